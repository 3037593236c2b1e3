// Package charset distinguishes text from other data, and converts text between UTF-8 and the
// encodings in which files are found.
//
// It owns the encodings: UTF-8 and UTF-16 with and without a byte order mark, and Windows-1252,
// which is the guess for other text. It does not own files, lines or messages.
package charset

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoding is the encoding of a text. The zero value is UTF-8 without a byte order mark.
type Encoding struct {
	family family
	mark   bool // the text begins with a byte order mark
}

type family int

const (
	utf8Family family = iota
	utf16LE
	utf16BE
	windows1252
)

var names = [...]string{utf8Family: "UTF-8", utf16LE: "UTF-16LE", utf16BE: "UTF-16BE", windows1252: "Windows-1252"}

// String returns a name such as UTF-16LE.
func (e Encoding) String() string {
	if e.mark && e.family == utf8Family {
		return "UTF-8 with a byte order mark"
	}
	return names[e.family]
}

// Guessed reports whether the encoding is a guess.
func (e Encoding) Guessed() bool { return e.family == windows1252 }

// Plain reports whether the encoding is UTF-8 without a mark, so that the bytes are the text.
func (e Encoding) Plain() bool { return e == Encoding{} }

// Detect returns the encoding of a text from its first bytes. A few thousand are enough. If the
// data is not text, it returns false and the media type, such as image/png. whole says that head is
// the whole data. Data after head may contain invalid UTF-8.
func Detect(head []byte, whole bool) (e Encoding, mediaType string, text bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")): // UTF-32
		return Encoding{}, "application/octet-stream", false
	case bytes.HasPrefix(head, markOf(utf8Family)):
		e = Encoding{mark: true}
		head = head[3:]
	case bytes.HasPrefix(head, markOf(utf16LE)):
		return Encoding{family: utf16LE, mark: true}, "", true
	case bytes.HasPrefix(head, markOf(utf16BE)):
		return Encoding{family: utf16BE, mark: true}, "", true
	}
	if family, ok := unmarked16(head); ok {
		return Encoding{family: family}, "", true
	}
	mediaType = http.DetectContentType(head)
	isText := strings.HasPrefix(mediaType, "text/")
	if !whole {
		head = WithoutPartialRune(head)
	}
	switch {
	case bytes.ContainsFunc(head, isBinary):
		if isText {
			mediaType = "application/octet-stream"
		}
		return Encoding{}, mediaType, false
	case utf8.Valid(head) && mediaType != "application/pdf":
		// even if it also matches a binary format: BM, for example, begins a bitmap
		return e, "", true
	case !isText:
		return Encoding{}, mediaType, false
	}
	return Encoding{family: windows1252}, "", true
}

// isBinary reports whether a character does not occur in text: control characters, except those for
// printers and terminals.
func isBinary(r rune) bool {
	return r < ' ' && !strings.ContainsRune("\a\b\t\n\v\f\r\x1b", r)
}

func markOf(f family) []byte {
	switch f {
	case utf16LE:
		return []byte("\xff\xfe")
	case utf16BE:
		return []byte("\xfe\xff")
	}
	return []byte("\xef\xbb\xbf")
}

// unmarked16 recognizes UTF-16 without a mark if the text is mostly ASCII: every other byte is
// zero.
func unmarked16(head []byte) (family, bool) {
	var zeros [2]int
	pairs := len(head) / 2
	for i, b := range head[:2*pairs] {
		if b == 0 {
			zeros[i%2]++
		}
	}
	for i, family := range []family{utf16BE, utf16LE} {
		if pairs >= 2 && zeros[i]*10 >= pairs*7 && zeros[1-i] == 0 {
			text, err := Encoding{family: family}.Decode(head[:2*pairs])
			return family, err == nil && !strings.ContainsFunc(text, isBinary)
		}
	}
	return 0, false
}

// WithoutPartialRune returns a UTF-8 text without an incomplete character at its end.
func WithoutPartialRune(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if utf8.RuneStart(b[len(b)-n]) {
			if !utf8.FullRune(b[len(b)-n:]) {
				return b[:len(b)-n]
			}
			return b
		}
	}
	return b
}

func (e Encoding) codec() encoding.Encoding {
	switch e.family {
	case utf16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case utf16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case windows1252:
		return charmap.Windows1252
	}
	return encoding.Nop
}

// Reader returns the text of r as UTF-8 without a mark. U+FFFD replaces invalid data, except that
// invalid UTF-8 stays as it is.
func (e Encoding) Reader(r io.Reader) io.Reader {
	if e.mark {
		r = &withoutPrefix{Reader: r, rest: len(markOf(e.family))}
	}
	if e.family == utf8Family {
		return r
	}
	return transform.NewReader(r, e.codec().NewDecoder())
}

// withoutPrefix skips the first bytes of a reader.
type withoutPrefix struct {
	io.Reader
	rest int
}

func (w *withoutPrefix) Read(p []byte) (int, error) {
	if w.rest > 0 {
		n, err := io.CopyN(io.Discard, w.Reader, int64(w.rest))
		if w.rest -= int(n); err != nil {
			return 0, err
		}
	}
	return w.Reader.Read(p)
}

// Decode returns the text of content. It returns an error if Encode would not return the same
// content.
func (e Encoding) Decode(content []byte) (string, error) {
	if e.mark {
		rest, ok := bytes.CutPrefix(content, markOf(e.family))
		if !ok {
			return "", fmt.Errorf("decoding %s: the byte order mark is missing", e)
		}
		content = rest
	}
	if e.family == utf8Family {
		return string(content), nil
	}
	text, err := e.codec().NewDecoder().Bytes(content)
	if err != nil {
		return "", fmt.Errorf("decoding %s: %w", e, err)
	}
	back, err := e.codec().NewEncoder().Bytes(text)
	if err != nil || !bytes.Equal(back, content) {
		return "", fmt.Errorf("decoding %s: there are bytes in it that are no text", e)
	}
	return string(text), nil
}

// Encode returns a text as bytes, with the mark if the encoding has one. It returns an error if the
// text is invalid or has characters that the encoding cannot represent.
func (e Encoding) Encode(text string) ([]byte, error) {
	var content []byte
	if e.mark {
		content = markOf(e.family)
	}
	if e.family == utf8Family {
		return append(content, text...), nil
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("encoding %s: the text is not UTF-8", e)
	}
	rest, err := e.codec().NewEncoder().Bytes([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("encoding %s: the text has characters that it lacks", e)
	}
	return append(content, rest...), nil
}
