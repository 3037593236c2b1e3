// Package terminal owns all reading from a terminal: the editor in which a person answers questions
// and writes messages, and the plain lines where there is no terminal. It also redraws lines at the
// end of a terminal. It does not know what is asked or drawn.
package terminal
