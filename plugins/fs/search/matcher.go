// Package search finds the lines of a text that match a regular expression, with their context
// lines.
//
// It owns the matching, and reads a text in bounded memory. It is fast because it first searches
// for a literal that every match must contain. It does not choose files or their order.
package search

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Pattern is what to search for.
type Pattern struct {
	Text       string // a regular expression in the syntax of RE2
	Fixed      bool   // Text is a literal string
	IgnoreCase bool
	Multiline  bool // a match may span lines, and "." also matches the end of a line
}

// Matcher is a compiled pattern. It is safe for concurrent use.
type Matcher struct {
	re        *regexp.Regexp
	literals  []literal // one of them is part of every match; empty if nothing is known
	exact     bool      // a text that contains one of them matches
	multiline bool
	foreign   bool // the pattern has non-ASCII characters, whose bytes depend on the encoding
}

// Compile compiles a pattern. Its error is for the author of the pattern.
func Compile(p Pattern) (*Matcher, error) {
	text := p.Text
	if p.Fixed {
		text = regexp.QuoteMeta(text)
	}
	flags := syntax.Perl
	if p.IgnoreCase {
		flags |= syntax.FoldCase
	}
	if p.Multiline {
		flags |= syntax.DotNL
		flags &^= syntax.OneLine
	}
	parsed, err := syntax.Parse(text, flags)
	if err != nil {
		if e, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, fmt.Errorf("the regular expression is wrong: %v: `%s`; its syntax is that of RE2, without look-around and back-references", e.Code, e.Expr)
		}
		return nil, fmt.Errorf("the regular expression is wrong: %w", err)
	}
	if !p.Multiline && needsNewline(parsed) {
		return nil, errors.New("the pattern contains the end of a line; lines are searched one by one, unless multiline is set")
	}
	// The string form of the parsed expression has the flags.
	re, err := regexp.Compile(parsed.String())
	if err != nil {
		return nil, fmt.Errorf("the regular expression is wrong: %w", err)
	}
	m := &Matcher{re: re, multiline: p.Multiline, foreign: !isASCII(text)}
	m.literals, m.exact = required(parsed.Simplify())
	return m, nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// needsNewline reports whether each match of the expression contains a line end.
func needsNewline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		return slices.ContainsFunc(re.Sub, needsNewline)
	}
	return false
}

// cursor finds matching lines in a text, from its beginning to its end.
type cursor struct {
	m    *Matcher
	text []byte
	next []int // where each literal is next; -1: nowhere
}

func (m *Matcher) cursor(text []byte, reuse []int) *cursor {
	c := &cursor{m: m, text: text, next: reuse[:0]}
	for range m.literals {
		c.next = append(c.next, 0)
	}
	for i := range c.next {
		c.seek(i, 0)
	}
	return c
}

// seek moves a literal to where it is next, from an offset on.
func (c *cursor) seek(i, from int) {
	c.next[i] = -1
	if at := c.m.literals[i].index(c.text[from:]); at >= 0 {
		c.next[i] = from + at
	}
}

// candidate returns the first offset from one on at which a match may be, or -1.
func (c *cursor) candidate(from int) int {
	first := -1
	for i, at := range c.next {
		if at >= 0 && at < from {
			c.seek(i, from)
			at = c.next[i]
		}
		if at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// line returns the first matching line from an offset on, which is the beginning of a line: its
// beginning, and its end without "\n".
func (c *cursor) line(from int) (begin, end int, ok bool) {
	if len(c.m.literals) == 0 {
		return c.eachLine(from)
	}
	for from < len(c.text) {
		at := c.candidate(from)
		if at < 0 {
			return 0, 0, false
		}
		begin = from + bytes.LastIndexByte(c.text[from:at], '\n') + 1
		end = lineEnd(c.text, at)
		if c.m.exact || c.m.re.Match(withoutCR(c.text[begin:end])) {
			return begin, end, true
		}
		from = end + 1
	}
	return 0, 0, false
}

func (c *cursor) eachLine(from int) (begin, end int, ok bool) {
	for from < len(c.text) {
		end = lineEnd(c.text, from)
		if c.m.re.Match(withoutCR(c.text[from:end])) {
			return from, end, true
		}
		from = end + 1
	}
	return 0, 0, false
}

// lines returns the beginning and the end of the lines that the first match from an offset on
// touches, without the last "\n". It serves patterns whose matches may span several lines.
func (c *cursor) lines(from int) (begin, end int, ok bool) {
	if from >= len(c.text) || len(c.m.literals) > 0 && c.candidate(from) < 0 {
		return 0, 0, false
	}
	at := c.m.re.FindIndex(c.text[from:])
	if at == nil {
		return 0, 0, false
	}
	begin = from + at[0]
	last := from + max(at[0], at[1]-1) // a match that ends in "\n" does not reach into the next line
	if begin == len(c.text) && begin > from && c.text[begin-1] == '\n' {
		return 0, 0, false // the empty text behind the last line is no line
	}
	begin = from + bytes.LastIndexByte(c.text[from:begin], '\n') + 1
	return begin, lineEnd(c.text, last), true
}

// lineEnd returns where the line that an offset is in ends, without its "\n".
func lineEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(text)
}

func withoutCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}
