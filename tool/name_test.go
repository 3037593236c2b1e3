package tool_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// FuzzNames compares the checks with the regular expressions that the contract states.
func FuzzNames(f *testing.F) {
	for _, s := range []string{
		"", "a", "Z9", "read_file", "read-file", "_a", "-a", "9a", "a b", "a.b", "ä", "a\n", "\n", "a\x00", "a\xff", "é1", "call-1:2/3", "!", "~", " ", "\x7f",
		strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("~", 128), strings.Repeat("~", 129), strings.Repeat("é", 64),
	} {
		f.Add(s)
	}
	name, id := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`), regexp.MustCompile(`^[!-~]{1,128}$`)
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := tool.CheckName(s) == nil, name.MatchString(s); got != want {
			t.Errorf("CheckName(%q) agrees: %v, want %v", s, got, want)
		}
		if got, want := tool.CheckID(s) == nil, id.MatchString(s); got != want {
			t.Errorf("CheckID(%q) agrees: %v, want %v", s, got, want)
		}
	})
}
