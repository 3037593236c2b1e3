// Package ignore tells which files a .gitignore leaves out.
//
// It owns the meaning of the lines of such a file, as https://git-scm.com/docs/gitignore says it; their globs are matched
// by doublestar. It does not own finding and reading the files, nor what git keeps elsewhere: .git/info/exclude, the
// user's own patterns and what is in the index.
package ignore

import (
	"bytes"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Rules are the lines of one .gitignore. They can be used from many goroutines at once.
type Rules struct{ patterns []pattern }

// Verdict is what rules say about a path.
type Verdict int

// The verdicts.
const (
	None    Verdict = iota // nothing
	Ignored                // leave it out
	Kept                   // a pattern with "!" takes it back, whatever rules above say
)

// pattern is one line.
type pattern struct {
	glob     string
	literal  bool   // glob is no glob but the path itself
	suffix   string // of all that matches; empty if it is not that simple
	baseOnly bool   // it is about the last element of a path
	folder   bool   // it is about folders
	keeps    bool   // it begins with "!"
}

// Parse returns the rules of a file. Lines that mean nothing are left out, as git does.
func Parse(content []byte) *Rules {
	content = bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	r := &Rules{}
	for line := range strings.SplitSeq(string(content), "\n") {
		if p, ok := parseLine(strings.TrimSuffix(line, "\r")); ok {
			r.patterns = append(r.patterns, p)
		}
	}
	return r
}

func parseLine(line string) (pattern, bool) {
	if strings.HasPrefix(line, "#") {
		return pattern{}, false
	}
	var p pattern
	line, p.keeps = strings.CutPrefix(line, "!")
	line = withoutTrailingSpaces(line)
	line, p.folder = strings.CutSuffix(line, "/")
	if line == "" {
		return pattern{}, false
	}
	p.baseOnly = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	p.literal = !strings.ContainsAny(line, `*?[\`)
	if p.literal {
		p.glob = line
		return p, true
	}
	if rest, ok := strings.CutPrefix(line, "*"); ok && p.baseOnly && !strings.ContainsAny(rest, `*?[\`) {
		p.suffix = rest
		return p, rest != "" || line == "*"
	}
	p.glob = toDoublestar(line)
	return p, doublestar.ValidatePattern(p.glob)
}

// withoutTrailingSpaces cuts off the spaces at the end, of which a backslash keeps one.
func withoutTrailingSpaces(line string) string {
	end := len(line)
	for end > 0 && line[end-1] == ' ' {
		backslashes := 0
		for end-2-backslashes >= 0 && line[end-2-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 1 {
			break
		}
		end--
	}
	return line[:end]
}

// classes are what git takes from POSIX and doublestar does not know.
var classes = strings.NewReplacer("[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9", "[:upper:]", "A-Z",
	"[:lower:]", "a-z", "[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t\n\v\f\r", "[:blank:]", " \t")

// toDoublestar returns a glob of git in the words of doublestar: braces are ordinary characters in git, "]" is one at the
// beginning of a class, and "/**" at the end means what is in a folder, not the folder.
func toDoublestar(glob string) string {
	glob = classes.Replace(glob)
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '\\':
			b.WriteByte(c)
			if i++; i < len(glob) {
				b.WriteByte(glob[i])
			}
		case '{', '}':
			b.WriteString(`\` + string(c))
		case '[':
			b.WriteByte(c)
			if i+1 < len(glob) && (glob[i+1] == '!' || glob[i+1] == '^') {
				i++
				b.WriteByte('^')
			}
			if i+1 < len(glob) && glob[i+1] == ']' {
				i++
				b.WriteString(`\]`)
			}
			for i+1 < len(glob) && glob[i+1] != ']' {
				i++
				b.WriteByte(glob[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	if s := b.String(); strings.HasSuffix(s, "/**") {
		return s + "/*"
	}
	return b.String()
}

// Match returns what the rules say about a path that is relative to their folder: the last of their lines that matches it
// counts. Of what is in an ignored folder they need not be asked.
func (r *Rules) Match(name string, isFolder bool) Verdict {
	base := path.Base(name)
	for i := len(r.patterns) - 1; i >= 0; i-- {
		p := &r.patterns[i]
		if p.folder && !isFolder {
			continue
		}
		subject := name
		if p.baseOnly {
			subject = base
		}
		if !p.matches(subject) {
			continue
		}
		if p.keeps {
			return Kept
		}
		return Ignored
	}
	return None
}

func (p *pattern) matches(subject string) bool {
	switch {
	case p.literal:
		return subject == p.glob
	case p.glob == "":
		return strings.HasSuffix(subject, p.suffix)
	}
	return doublestar.MatchUnvalidated(p.glob, subject)
}
