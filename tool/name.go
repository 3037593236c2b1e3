package tool

import (
	"fmt"
	"strings"
)

// The longest names and ids, in bytes.
const (
	maxName = 64
	maxID   = 128
)

// CheckName returns what is wrong with the name of a tool or plugin, or nil. A name has 1 to 64 of
// the characters A-Z a-z 0-9 _ - and begins with a letter. Every model provider accepts such a
// name.
func CheckName(name string) error {
	switch {
	case isName(name):
		return nil
	case name == "":
		return fmt.Errorf("the name is empty; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter")
	default:
		return fmt.Errorf("the name %q is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter", clip(name, 80))
	}
}

// CheckID returns what is wrong with a call id or session id, or nil. An id has 1 to 128 printable
// ASCII characters without spaces.
func CheckID(id string) error {
	if isID(id) {
		return nil
	}
	return fmt.Errorf("the id %q is ill-formed; use 1 to 128 printable ASCII characters without spaces", clip(id, 140))
}

// isName and isID do not use regular expressions: every plugin would compile them at its start,
// which takes a third of a millisecond, and every call checks an id.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && isLetter(rune(s[0])) && !strings.ContainsFunc(s, func(r rune) bool {
		return !isLetter(r) && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func isID(s string) bool {
	return s != "" && len(s) <= maxID && !strings.ContainsFunc(s, func(r rune) bool { return r < '!' || r > '~' })
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
