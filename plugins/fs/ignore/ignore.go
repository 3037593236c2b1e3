// Package ignore decides which files a .gitignore excludes.
//
// It owns the meaning of the lines of such a file, as https://git-scm.com/docs/gitignore defines
// it. doublestar matches the globs. The package does not find or read the files. It ignores
// .git/info/exclude, the user's own patterns, and the index.
package ignore

import (
	"bytes"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Rules has the rules of one .gitignore. It is safe for concurrent use.
type Rules struct{ patterns []pattern }

// Verdict is the result of applying rules to a path.
type Verdict int

// The verdicts.
const (
	None    Verdict = iota // no rule applies
	Ignored                // the path is excluded
	Kept                   // a pattern with "!" includes it, whatever rules of parent folders say
)

// pattern is one line of the file.
type pattern struct {
	glob     string
	literal  bool   // glob is a plain path
	suffix   string // suffix of all matches; empty if there is no common one
	baseOnly bool   // applies to the last element of a path
	folder   bool   // applies only to folders
	keeps    bool   // begins with "!"
}

// Parse returns the rules of a file. It ignores invalid lines, like git.
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

// withoutTrailingSpaces removes trailing spaces. A backslash protects one.
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

// classes translates POSIX character classes, which git supports and doublestar does not.
var classes = strings.NewReplacer("[:alpha:]", "a-zA-Z", "[:digit:]", "0-9", "[:alnum:]", "a-zA-Z0-9", "[:upper:]", "A-Z",
	"[:lower:]", "a-z", "[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t\n\v\f\r", "[:blank:]", " \t")

// toDoublestar translates a glob of git to doublestar. In git, braces are ordinary characters, "]"
// at the start of a class is part of it, and "/**" at the end means the content of a folder and not
// the folder.
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

// Match applies the rules to a path relative to their folder. The last matching line decides.
// Callers need not ask about the content of an excluded folder.
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
