package expr

import "fmt"

// Error says what is wrong with an expression and what is allowed.
type Error struct {
	// Position is the character of the error, counted from 1.
	Position int
	// Problem says what was found and what is allowed.
	Problem string
}

// Error returns position and problem.
func (e *Error) Error() string { return fmt.Sprintf("at character %d: %s", e.Position, e.Problem) }

func errorAt(position int, format string, args ...any) *Error {
	return &Error{Position: position, Problem: fmt.Sprintf(format, args...)}
}
