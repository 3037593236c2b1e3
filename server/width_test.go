package server_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is the width of comments, so that they can be read beside other code.
const mostColumns = 100

var (
	// wideComment matches a line of prose in a comment that could be broken. An indented line may
	// be a table, a list or code, and a line without a blank is a URL.
	wideComment = regexp.MustCompile(`^\s*// \S+ `)
	anyComment  = regexp.MustCompile(`^\s*//`)
	// exampleOutput begins the output of an example, which is what a program prints.
	exampleOutput = regexp.MustCompile(`^\s*// (Output|Unordered output):`)
)

// TestCommentsAreNarrow fails for a line of a comment with more than mostColumns characters.
// Generated code may be wider.
func TestCommentsAreNarrow(t *testing.T) {
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "gen" || name != "." && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(name)
		printed := false
		for i, line := range strings.Split(string(text), "\n") {
			printed = anyComment.MatchString(line) && (printed || exampleOutput.MatchString(line))
			if n := utf8.RuneCountInString(line); n > mostColumns && !printed && wideComment.MatchString(line) {
				t.Errorf("%s:%d: the comment has %d columns, of which %d are allowed", name, i+1, n, mostColumns)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
