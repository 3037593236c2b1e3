package result

import (
	"strings"
	"unicode/utf8"
)

// head returns at most n bytes of the beginning of a text. It ends after a line where a line ends
// nearby, and never inside a character. The result shares no memory with the text.
func head[T ~string | ~[]byte](text T, n int) string {
	if len(text) <= n {
		return strings.Clone(string(text))
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	for i := n; i > n-n/4; i-- {
		if text[i-1] == '\n' {
			n = i
			break
		}
	}
	return strings.Clone(string(text[:n]))
}

// tail is head for the end of a text. It begins with a line where a line begins nearby.
func tail[T ~string | ~[]byte](text T, n int) string {
	if len(text) <= n {
		return strings.Clone(string(text))
	}
	from := len(text) - n
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	for i := from; i < from+n/4 && i < len(text); i++ {
		if text[i-1] == '\n' {
			from = i
			break
		}
	}
	return strings.Clone(string(text[from:]))
}

// Clip returns at most n bytes of a text, followed by … if it left something out.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
