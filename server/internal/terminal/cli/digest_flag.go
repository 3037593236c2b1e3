package cli

import (
	"errors"

	"github.com/spf13/pflag"
)

// DigestFlag adds --digest to flags, which limits a command to what has this digest. An empty value
// is refused: it would permit everything, and a script may pass a variable that is not set.
func DigestFlag(flags *pflag.FlagSet, digest *string, usage string) {
	flags.Var((*digestValue)(digest), "digest", usage)
}

// digestValue implements pflag.Value.
type digestValue string

func (d *digestValue) String() string { return string(*d) }

func (d *digestValue) Set(s string) error {
	if s == "" {
		return errors.New("the digest is empty")
	}
	*d = digestValue(s)
	return nil
}

func (d *digestValue) Type() string { return "string" }
