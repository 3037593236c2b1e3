package yamldoc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one fault of a file.
type Error struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1; 0: the whole file
	Column  int    `json:"column"` // from 1, in characters; 0: the whole file
	Key     string `json:"key"`    // such as "launch.parallel"; empty: no particular one
	Message string `json:"message"`
}

func newError(file string, at Place, key, format string, args ...any) *Error {
	return &Error{File: file, Line: at.Line, Column: at.Column, Key: key, Message: fmt.Sprintf(format, args...)}
}

// Error returns "FILE:LINE:COLUMN: KEY: MESSAGE", without the parts that are not known.
func (e *Error) Error() string {
	place := ""
	if e.Line > 0 {
		place = fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	if e.Key != "" {
		return e.File + place + ": " + e.Key + ": " + e.Message
	}
	return e.File + place + ": " + e.Message
}

// Errors is everything that is wrong with a file, in the order of its lines.
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
