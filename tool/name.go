package tool

import (
	"fmt"
	"regexp"
)

var (
	namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	idPattern   = regexp.MustCompile(`^[!-~]{1,128}$`)
)

// CheckName returns an error that says what is wrong with the name of a tool or plugin, or nil. A name has 1 to 64 of
// the characters A-Z a-z 0-9 _ - and begins with a letter: what every model provider accepts.
func CheckName(name string) error {
	switch {
	case namePattern.MatchString(name):
		return nil
	case name == "":
		return fmt.Errorf("the name is empty; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter")
	default:
		return fmt.Errorf("the name %q is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter", clip(name, 80))
	}
}

// CheckID returns an error that says what is wrong with a call id or session id, or nil. An id has 1 to 128 printable
// ASCII characters and no spaces.
func CheckID(id string) error {
	if idPattern.MatchString(id) {
		return nil
	}
	return fmt.Errorf("the id %q is ill-formed; use 1 to 128 printable ASCII characters without spaces", clip(id, 140))
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
