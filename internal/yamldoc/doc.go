// Package yamldoc reads and writes the YAML files of toolhost and agentd.
//
// It reads strictly: it refuses unknown and repeated keys, anchors, aliases, merge keys and tags,
// and each error says where the fault is, what is there and what is allowed. A Decoder reads a file
// into structs; a Node gives access to single values. The package knows the keys of no particular
// file: the packages that own a file define them as structs, or ask a Node for them. It expands no
// variables and does not read the environment.
//
// A Decoder follows these tags of struct fields:
//
//	yaml      the key
//	default   the value without the key, as the file writes it
//	unset     what happens without the key, for fields without a default; the field is empty then
//	required  any value: the file must have the key
//	zero      the word for 0, where 0 has a special meaning
//	auto      the word for Auto, where the program chooses the value
//	min, max  bounds, as the file writes them
//	oneof     the allowed values, separated by commas
//	is        what a text has to be: address, name, folder, file, path, or a word of Decoder.Checks;
//	          a Decoder makes folders, files and paths absolute
//	keys      what the keys of a mapping have to be: name, or a word of Decoder.Checks
//	hint      what to write instead, for the error of a value of another form
//	conceal   any value: errors never show the values of a mapping, which may be secrets
package yamldoc

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Auto is the value of a number that the program chooses. The tag auto names the word for it.
const Auto = -1

// MaxConfigBytes bounds a configuration file.
const MaxConfigBytes = 256 << 10

// Load reads the configuration file at path. It passes the text to parse, with the absolute path of
// the folder that relative paths of the file refer to.
func Load[T any](path string, parse func(name, dir string, data []byte) (T, error)) (T, error) {
	data, err := readFile(path)
	if err != nil {
		var zero T
		return zero, fmt.Errorf("reading the configuration: %w", err)
	}
	return LoadText(path, data, parse)
}

// LoadText is Load for a file that the caller has read already. A decision that the caller made
// about these bytes is valid for the result.
func LoadText[T any](path string, data []byte, parse func(name, dir string, data []byte) (T, error)) (T, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		var zero T
		return zero, fmt.Errorf("reading the configuration: %w", err)
	}
	return parse(path, dir, data)
}

// readFile reads at most MaxConfigBytes+1 bytes of a file. The additional byte shows that the file
// is too large. The limit also ends the read of a device such as /dev/zero.
func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, MaxConfigBytes+1))
}
