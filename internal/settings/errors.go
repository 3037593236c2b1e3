package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is one thing that is wrong with a file.
type Error struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1; 0: the whole file
	Column  int    `json:"column"` // from 1, in characters; 0: the whole file
	Key     string `json:"key"`    // such as "launch.parallel"; empty: none in particular
	Message string `json:"message"`
}

// Error returns "FILE:LINE:COLUMN: KEY: MESSAGE", without what is not known.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Message)
	return b.String()
}

// Errors is all that is wrong with a file, in the order of its lines. Load and Parse return this type.
type Errors []*Error

// Error returns one line for each error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Sort puts the errors in the order of their lines.
func (e Errors) Sort() {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// shown returns a scalar for an error: on one line, of bounded length, and in quotes unless it is a plain number.
func shown(s Scalar) string {
	const longest = 60
	text := s.Text
	if utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest]) + "…"
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && !s.Quoted {
		return text
	}
	return strconv.Quote(text)
}

// alternatives returns "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// nearest returns the one of words that text was probably meant to be, or "".
func nearest(text string, words []string) string {
	text = normal(text)
	best, distance := "", 3
	for _, word := range words {
		d := edits(text, word)
		if len(word) >= 3 && strings.HasPrefix(text, word) || len(text) >= 3 && strings.HasPrefix(word, text) {
			d = min(d, 2) // "warning" for warn, "max" for max_entries
		}
		if d < distance && d < len(word)/2+1 {
			best, distance = word, d
		}
	}
	return best
}

// normal returns a word as keys and choices are written.
func normal(word string) string {
	return strings.ReplaceAll(strings.ToLower(word), "-", "_")
}

// edits returns how many letters must be inserted, removed, replaced or swapped with their neighbour to get from a to b.
func edits(a, b string) int {
	if len(a) > 2*len(b)+4 {
		return len(a) // far away; what a file says may be long
	}
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
