package wire

import "bytes"

// Closing follows JSON text that arrives in pieces, and tells when the text is a complete object or
// list. It examines each byte once, and the whole text at most once: when all brackets are closed.
// Without it, a server could make the work for a text grow with the square of its length, by pieces
// that each end with a bracket. The zero value is ready. It is not safe for concurrent use.
type Closing struct {
	depth           int
	quoted, escaped bool
	begun, closed   bool // the text has a byte, and its brackets are closed
	never           bool // the text is no object or list, whatever follows
	checked         bool
}

// Add adds a piece of the text.
func (c *Closing) Add(piece []byte) {
	for _, b := range piece {
		space := bytes.IndexByte([]byte(blank), b) >= 0
		switch {
		case c.quoted:
			c.quoted, c.escaped = b != '"' || c.escaped, b == '\\' && !c.escaped
		case space:
		case c.closed:
			c.never = true // something follows the object or list
		case b == '{' || b == '[':
			c.depth++
		case b == '}' || b == ']':
			c.depth--
			c.closed = c.depth == 0
		default:
			c.quoted = b == '"'
		}
		c.begun = c.begun || !space
		if c.never = c.never || c.begun && c.depth <= 0 && !c.closed; c.never {
			return
		}
	}
}

// blank is the white space of JSON.
const blank = " \t\r\n"

// Complete reports whether the text is one object or list, with white space around it. valid
// reports whether all that was added is JSON. It is called at most once.
func (c *Closing) Complete(valid func() bool) bool {
	if !c.closed || c.never {
		return false
	}
	if !c.checked {
		c.checked, c.never = true, !valid()
	}
	return !c.never
}
