package yamldoc

import "unicode"

// Inside returns the place in the file of a character of a text, given the place where the text
// begins and the character's line and column in the text. The column may be the one after the text.
//
// The parser gives only the place where a text begins, and YAML has five ways to write a text. All
// of them keep its characters in order, and change only white space and escapes. Inside therefore
// walks through the file and the text side by side, and ignores white space. If the file writes a
// character as a code such as \x41, the two differ, and Inside returns the place of the text.
func (d *Decoder) Inside(at Place, text string, line, column int) Place {
	source := d.source
	i, escape := opening(source, offset(source, at.Line, at.Column))
	chars := []rune(text)
	target := offset(chars, line, column)
	for _, r := range chars[:target] {
		if unicode.IsSpace(r) {
			continue
		}
		i = skipSpace(source, i)
		if escape != 0 && i+1 < len(source) && source[i] == escape && source[i+1] == r {
			i++
		}
		if i >= len(source) || source[i] != r {
			return at
		}
		i++
	}
	if target < len(chars) && !unicode.IsSpace(chars[target]) {
		i = skipSpace(source, i)
	}
	at = Place{1, 1}
	for _, r := range source[:i] {
		at.Column++
		if r == '\n' {
			at = Place{at.Line + 1, 1}
		}
	}
	return at
}

// opening returns the index after what opens a text at an index, a quote or a line with | or >, and
// the character that escapes others in the text.
func opening(source []rune, i int) (after int, escape rune) {
	if i >= len(source) {
		return i, 0
	}
	switch source[i] {
	case '"':
		return i + 1, '\\'
	case '\'':
		return i + 1, '\''
	case '|', '>':
		for i < len(source) && source[i] != '\n' {
			i++
		}
	}
	return i, 0
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

func skipSpace(text []rune, i int) int {
	for i < len(text) && unicode.IsSpace(text[i]) {
		i++
	}
	return i
}
