package settings

import "unicode"

// Inside returns where a character of a text stands in the file. The text begins at a place; lines and columns count
// from 1, and the column may be the one behind the text. White space apart, the file has the characters of a text in
// their order, whichever way of writing texts it uses. Where it has not, because it writes some as codes, the place of the
// text is returned.
func (d *Decoder) Inside(at Place, text string, line, column int) Place {
	c := cursor{source: d.source}
	c.to(at)
	c.open()
	chars := []rune(text)
	target := offset(chars, line, column)
	for _, r := range chars[:target] {
		if !unicode.IsSpace(r) && !c.pass(r) {
			return at
		}
	}
	if target < len(chars) && !unicode.IsSpace(chars[target]) {
		c.skip()
	}
	return c.place()
}

// offset returns the index of a line and column, at most the length of the text.
func offset(text []rune, line, column int) int {
	i := 0
	for ; line > 1 && i < len(text); i++ {
		if text[i] == '\n' {
			line--
		}
	}
	return min(i+max(0, column-1), len(text))
}

// cursor goes through the characters of a file.
type cursor struct {
	source []rune
	i      int
	escape rune // what stands before a character of a text that is quoted
}

// to goes to a place.
func (c *cursor) to(at Place) {
	c.i = offset(c.source, at.Line, at.Column)
}

// open goes behind what begins a text: a quote, or a line with | or >.
func (c *cursor) open() {
	if c.i >= len(c.source) {
		return
	}
	switch c.source[c.i] {
	case '"':
		c.escape = '\\'
		c.i++
	case '\'':
		c.escape = '\''
		c.i++
	case '|', '>':
		for c.i < len(c.source) && c.source[c.i] != '\n' {
			c.i++
		}
	}
}

func (c *cursor) skip() {
	for c.i < len(c.source) && unicode.IsSpace(c.source[c.i]) {
		c.i++
	}
}

// pass goes behind a character, if it is the next one that is no white space.
func (c *cursor) pass(r rune) bool {
	c.skip()
	if c.escape != 0 && c.i+1 < len(c.source) && c.source[c.i] == c.escape && c.source[c.i+1] == r {
		c.i++
	}
	if c.i >= len(c.source) || c.source[c.i] != r {
		return false
	}
	c.i++
	return true
}

// place returns where the cursor is.
func (c *cursor) place() Place {
	at := Place{1, 1}
	for _, r := range c.source[:c.i] {
		at.Column++
		if r == '\n' {
			at = Place{at.Line + 1, 1}
		}
	}
	return at
}
