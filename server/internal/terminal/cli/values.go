package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Values are the values of the flag --context KEY=JSON, by key. The zero value is empty.
type Values map[string]json.RawMessage

// AddFlag adds --context to flags.
func (v *Values) AddFlag(flags *pflag.FlagSet, usage string) {
	flags.Var(v, "context", usage)
}

// String implements pflag.Value.
func (v *Values) String() string {
	if v == nil {
		return ""
	}
	given := make([]string, 0, len(*v))
	for _, key := range slices.Sorted(maps.Keys(*v)) {
		given = append(given, key+"="+string((*v)[key]))
	}
	return strings.Join(given, " ")
}

// Set implements pflag.Value. It adds one value.
func (v *Values) Set(s string) error {
	key, text, found := strings.Cut(s, "=")
	_, twice := (*v)[key]
	switch {
	case !found:
		return errors.New(`write KEY=JSON, such as 'tenant="acme"'`)
	case key == "":
		return errors.New("the key before = is empty")
	case twice:
		return fmt.Errorf("the key %q is given twice", key)
	case !json.Valid([]byte(text)) && !strings.ContainsAny(text, "{}[]\"'\\"):
		return fmt.Errorf(`the value of %[1]q is not JSON; a text needs quotes, which the shell must leave alone: '%[1]s="%[2]s"'`, key, text)
	case !json.Valid([]byte(text)):
		return fmt.Errorf(`the value of %q is not JSON; put all of it in single quotes, such as 'tenant="acme"' or 'user={"id":7}'`, key)
	}
	if *v == nil {
		*v = make(Values)
	}
	(*v)[key] = json.RawMessage(text)
	return nil
}

// Type implements pflag.Value.
func (v *Values) Type() string { return "KEY=JSON" }
