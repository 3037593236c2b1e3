package cli

import (
	"strings"
	"unicode"
)

// ShellWord returns a word as a user types it for a POSIX shell, in quotes if it needs them.
func ShellWord(word string) string {
	harmless := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:=@,+%", r)
	}
	if word == "" || strings.ContainsFunc(word, func(r rune) bool { return !harmless(r) }) {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
