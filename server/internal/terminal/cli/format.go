package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"
)

// Format is the value of the flag -o. The zero value is text.
type Format struct{ json bool }

// AddFlag adds -o to flags.
func (f *Format) AddFlag(flags *pflag.FlagSet) {
	flags.VarP(f, "output", "o", "print as `FORMAT`: text or json, whose keys are experimental")
}

// JSON reports whether the format is JSON.
func (f *Format) JSON() bool { return f.json }

// String implements pflag.Value.
func (f *Format) String() string {
	if f.json {
		return "json"
	}
	return "text"
}

// Set implements pflag.Value.
func (f *Format) Set(s string) error {
	if s != "text" && s != "json" {
		return errors.New("use text or json")
	}
	f.json = s == "json"
	return nil
}

// Type implements pflag.Value.
func (f *Format) Type() string { return "format" }

// WriteJSON writes a value as one line of JSON, escaped as EscapeJSON does it. The characters <, >
// and & stay.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(NewJSONWriter(w))
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}
