package yamldoc

import (
	"strings"
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
	before, rest, escape := upTo(text, line, column), d.source[len(upTo(d.source, at.Line, at.Column)):], ""
	switch {
	case strings.HasPrefix(rest, `"`):
		rest, escape = rest[1:], `\`
	case strings.HasPrefix(rest, "'"):
		rest, escape = rest[1:], "'"
	case strings.HasPrefix(rest, "|"), strings.HasPrefix(rest, ">"):
		rest = rest[max(0, strings.IndexByte(rest, '\n')):]
	}
	for _, r := range before {
		if unicode.IsSpace(r) {
			continue
		}
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if escape != "" && strings.HasPrefix(rest, escape+string(r)) {
			rest = rest[1:]
		}
		same := false
		if rest, same = strings.CutPrefix(rest, string(r)); !same {
			return at
		}
	}
	if next := text[len(before):]; strings.TrimLeftFunc(next, unicode.IsSpace) == next && next != "" {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	return placeAfter([]byte(strings.TrimSuffix(d.source, rest)))
}

// upTo returns the part of a text before a place.
func upTo(text string, line, column int) string {
	lines := strings.SplitAfterN(text, "\n", max(1, line))
	last := []rune(lines[len(lines)-1])
	if len(lines) == line {
		last = last[:min(len(last), max(0, column-1))]
	}
	return strings.Join(lines[:len(lines)-1], "") + string(last)
}
