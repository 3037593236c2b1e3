package supervisor

import "strconv"

// By is who gives a command for a plugin, and why. The zero value tells neither.
type By struct {
	Principal string // the key of the operator's principal; empty: it is not known
	Reason    string // the operator's, in at most tool.MaxReason bytes; may be empty
}

// text returns what to append to a sentence about the command, for operators.
func (b By) text() string {
	s := ""
	if b.Principal != "" {
		s = " (" + b.Principal + ")"
	}
	if b.Reason != "" {
		s += ": " + strconv.Quote(b.Reason) // an operator may write what looks like another event
	}
	return s
}
