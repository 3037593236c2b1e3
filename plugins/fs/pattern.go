package main

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pattern is a glob for paths. It matches what the glob matches, and also names that have its
// brackets themselves, because many names do: app/[slug]/page.tsx. The zero value matches nothing.
type pattern struct {
	glob    string
	literal string // the glob whose brackets are escaped; empty if it has none
}

func newPattern(glob string) pattern {
	p := pattern{glob: glob}
	if literal := withBrackets(glob); literal != glob {
		p.literal = literal
	}
	return p
}

// matches reports whether the pattern matches a whole path.
func (p pattern) matches(below string) bool {
	return p.glob != "" && (doublestar.MatchUnvalidated(p.glob, below) || p.literal != "" && doublestar.MatchUnvalidated(p.literal, below) || p.glob == below)
}

// fits reports whether the pattern matches a path. A pattern without a slash applies to the last
// element.
func (p pattern) fits(below string) bool {
	if path.Base(p.glob) == p.glob {
		below = path.Base(below)
	}
	return p.matches(below)
}

// hint explains brackets to a caller for which nothing matched.
func (p pattern) hint() string {
	if p.literal == "" {
		return ""
	}
	return fmt.Sprintf("; its brackets were read as a choice of characters and as themselves; with a backslash they are only themselves: %s", p.literal)
}

// withBrackets escapes the square brackets of a glob, and curly brackets around a single
// alternative.
func withBrackets(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '\\':
			b.WriteByte(c)
			if i++; i < len(glob) {
				b.WriteByte(glob[i])
			}
		case '[', ']':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '{':
			inside, _, closed := strings.Cut(glob[i+1:], "}")
			if closed && !strings.ContainsAny(inside, `,{\`) {
				b.WriteString(`\{` + withBrackets(inside) + `\}`)
				i += len(inside) + 1
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func checkGlob(parameter, glob string) error {
	switch {
	case path.IsAbs(glob):
		return fmt.Errorf("the %s %q is absolute; it is compared with paths below the folder", parameter, glob)
	case !fs.ValidPath(glob) && glob != "":
		return fmt.Errorf("the %s %q leads out of the folder", parameter, glob)
	case !doublestar.ValidatePattern(glob):
		return fmt.Errorf(`the %s %q is no glob: something is opened in it and not closed; \[ and \{ stand for the brackets themselves`, parameter, glob)
	}
	return nil
}
