package yamldoc

import (
	"slices"
	"unicode"
)

// Inside returns the place in the file of a character of a text, given the place where the text
// begins and the character's line and column in the text. The column may be the one after the text.
//
// The parser gives only the place where a text begins, and YAML has five ways to write a text. All
// of them keep its characters in order, and change only white space and escapes. Inside therefore
// walks through the file and the text side by side, and ignores white space. If the file writes a
// character as a code such as \x41, the two differ, and Inside returns the place of the text.
func (d *Decoder) Inside(at Place, text string, line, column int) Place {
	source, chars := []rune(d.source), []rune(text)
	i, target := offset(source, at.Line, at.Column), offset(chars, line, column)
	skipSpace := func() {
		for i < len(source) && unicode.IsSpace(source[i]) {
			i++
		}
	}
	var escape rune
	if i < len(source) {
		switch source[i] {
		case '"':
			i, escape = i+1, '\\'
		case '\'':
			i, escape = i+1, '\''
		case '|', '>':
			i += max(0, slices.Index(source[i:], '\n'))
		}
	}
	for _, r := range chars[:target] {
		if unicode.IsSpace(r) {
			continue
		}
		skipSpace()
		if escape != 0 && i+1 < len(source) && source[i] == escape && source[i+1] == r {
			i++
		}
		if i >= len(source) || source[i] != r {
			return at
		}
		i++
	}
	if target < len(chars) && !unicode.IsSpace(chars[target]) {
		skipSpace()
	}
	return placeAfter([]byte(string(source[:i])))
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
