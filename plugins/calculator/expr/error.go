package expr

import "fmt"

// Error says what is wrong with an expression, in words that help to write a better one.
type Error struct {
	// Position is the character at which the error was found, from 1.
	Position int
	// Problem is what was found there and what is allowed.
	Problem string
}

// Error returns position and problem.
func (e *Error) Error() string { return fmt.Sprintf("at character %d: %s", e.Position, e.Problem) }

func errorAt(position int, format string, args ...any) *Error {
	return &Error{Position: position, Problem: fmt.Sprintf(format, args...)}
}
