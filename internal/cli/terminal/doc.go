// Package terminal reads messages that a person types and redraws lines at the end of a terminal.
// It does not know what is read or drawn.
package terminal
