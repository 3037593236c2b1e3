package host

import (
	"strings"
	"unicode/utf8"
)

// head returns at most n bytes of the beginning of a text, up to the end of a line where one is near, and never a part of
// a letter. It shares no memory with the text.
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

// tail is head for the end of a text, from the beginning of a line where one is near.
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
