// Package settings reads a configuration file into structs, and writes it back.
//
// It owns what toolhost.yaml and agentd.yaml have in common: strict YAML, defaults and bounds from the tags of fields, the
// words for whatever is wrong with line and column, and a form in which a whole configuration is shown. It knows no key:
// internal/config and internal/agent/agentconfig say which there are. It expands nothing, and it does not read the environment.
//
// The tags of a field:
//
//	yaml     the key
//	default  the value without the key, as it is written in the file
//	unset    what happens without the key, for texts that have no default; the field is empty then
//	zero     the word that stands for 0, where 0 has a meaning of its own
//	auto     the word that stands for Auto, where the program finds the value
//	min, max bounds, as they are written in the file
//	oneof    the values allowed
//	is       what a text has to be: address, name, folder or file; folders and files are made absolute
//	hint     what to say to those who write something else
//	required that the key cannot be left out
package settings

import (
	"fmt"
	"io"
	"os"
	"reflect"
)

// Auto is the number that a field has whose value the program finds. The tag auto has the word for it.
const Auto = -1

// MaxBytes bounds a file: YAML that is nested deeply takes the parser a time that grows with its square.
const MaxBytes = 256 << 10

// Fill gives each field of v, a struct that can be set, its default, in the structs within it too. It panics where a
// default is none.
func Fill(v reflect.Value) {
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		if field.Kind() == reflect.Struct {
			Fill(field)
		} else if text, ok := tag.Lookup("default"); ok {
			if err := set(field, tag, Scalar{Text: text}); err != nil {
				panic(fmt.Sprintf("settings: the default of %s: %v", v.Type().Field(i).Name, err))
			}
		}
	}
}

// ReadFile reads a file for Decoder.Document: one byte more than is allowed at most, for a device may never end.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, MaxBytes+1))
}
