package textform

import "unicode/utf8"

// characters joins pieces of text that may end inside of a character. The zero value is ready to
// use.
type characters struct{ partial string }

// add returns the next whole characters. U+FFFD replaces each byte that belongs to no character.
func (c *characters) add(piece string) string {
	piece = c.partial + piece
	c.partial = ""
	for n := 1; n < utf8.UTFMax && n <= len(piece); n++ {
		if tail := piece[len(piece)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				piece, c.partial = piece[:len(piece)-n], tail
			}
			break
		}
	}
	return valid(piece)
}

// rest returns the end of the text.
func (c *characters) rest() string {
	partial := c.partial
	c.partial = ""
	return valid(partial)
}

func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}
