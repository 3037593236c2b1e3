package textform

// code follows Markdown to find out which text is code. Models show examples of calls in code. A
// tag in code that is read as a call would be executed. A call that is read as code does no harm:
// if the response has no other call, suspicion asks the model about it. So where the rules of
// CommonMark need the enclosing lists and quotes, code decides by the line alone, and prefers to
// see code:
//
//   - A fence opens as soon as its marks are read, after any indentation and any marks of quotes and
//     lists. CommonMark would need the enclosing lists to know how far a fence may be indented.
//   - A fence closes after as many > as it opened, without marks of lists, and indented by at most 3
//     columns more. The end of a quote or a list does not close it.
//   - Inline code ends at the end of its line at the latest.
//   - Indented lines are not code without a fence, because models indent their calls in lists.
//
// The zero value is the start of a line.
type code struct {
	begun bool // the line has more than its indentation
	mark  byte // of the run of marks that is being read: '`', '~' or 0
	run   int  // its length
	first bool // only indentation and marks of quotes and lists are before the run

	content bool // the line has more than its indentation and marks of quotes and lists
	number  bool // the last byte is a digit that may belong to the mark of a list
	listed  bool // the line has the mark of a list
	start   start

	fence    byte // the mark of the open fence; 0: none is open
	opened   start
	length   int  // of the open fence
	closing  bool // the line closes the fence, if only white space follows
	inline   int  // the length of the marks around the inline code; 0: there is none
	infoLine bool // the line opened the fence
}

// start describes what is before the content of a line.
type start struct {
	column int // of the content
	quotes int // the number of >
}

// add takes the next byte.
func (c *code) add(b byte) {
	if b == c.mark && b != 0 {
		c.run++
		return
	}
	c.settle()
	blank := b == ' ' || b == '\t' || b == '\r'
	switch {
	case b == '\n':
		if c.closing {
			c.fence = 0
		}
		*c = code{fence: c.fence, opened: c.opened, length: c.length}
		return
	case b == '`' || b == '~':
		c.mark, c.run, c.first = b, 1, !c.content && !c.number
		c.content = true
	case c.content:
		c.closing = c.closing && blank
	default:
		c.indent(b)
	}
	c.begun = c.begun || !blank
}

// indent takes a byte before the content of a line.
func (c *code) indent(b byte) {
	number := c.number
	c.number = false
	switch {
	case b >= '0' && b <= '9':
		c.number = true
	case number && (b == '.' || b == ')'), !number && (b == '-' || b == '*' || b == '+'):
		c.listed = true
	case number:
		c.content = true
	case b == '>':
		c.start.quotes++
	case b == '\t':
		c.start.column += 3 - c.start.column%4
	case b != ' ' && b != '\r':
		c.content = true
	}
	c.start.column++
}

// settle ends a run of marks. It may be called at any place.
func (c *code) settle() {
	mark, run := c.mark, c.run
	c.mark, c.run = 0, 0
	switch {
	case mark == 0:
	case c.fence != 0 && c.infoLine && mark == '`' && c.fence == '`':
		// The info string of a fence has no backticks: this is inline code with many marks.
		c.fence, c.infoLine = 0, false
		if run != c.length {
			c.inline = c.length
		}
	case c.fence != 0:
		c.closing = c.first && !c.listed && mark == c.fence && run >= c.length &&
			c.start.quotes == c.opened.quotes && c.start.column <= c.opened.column+3
	case c.first && run >= 3:
		c.fence, c.opened, c.length, c.infoLine = mark, c.start, run, true
	case mark == '~':
	case c.inline == 0:
		c.inline = run
	case c.inline == run:
		c.inline = 0
	}
}

// inside reports whether the next byte is code.
func (c *code) inside() bool {
	c.settle()
	return c.fence != 0 || c.inline != 0
}
