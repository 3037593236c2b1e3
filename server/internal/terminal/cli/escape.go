package cli

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Tools, models, callers and servers choose text that a person reads in a terminal. Such text can
// contain characters that control the terminal, or that make a text look like another one:
//
//   - control characters (Cc) and the separators of lines and paragraphs (Zl, Zp)
//   - format characters (Cf), such as bidirectional overrides and zero-width characters
//   - characters that show nothing although they count as letters, such as U+3164
//   - long runs of combining marks, which cover the lines above and below
//
// The functions of this file write each of these characters as an escape of Go and JSON, such as
// \x1b or \u202e. So a reader sees that the character is there. No other code makes foreign text
// safe for a terminal.

// steers reports whether a character must not reach a terminal.
func steers(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || isBlank(r)
}

// isBlank reports whether a character shows nothing and is neither a space nor of the categories
// that steers refuses: the fillers of Hangul, Khmer and Mongolian, the grapheme joiner, the empty
// Braille pattern, the notehead without a head, and what Unicode reserves for later characters that
// show nothing.
func isBlank(r rune) bool {
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2065, 0x2800, 0x3164, 0xffa0, 0x1d159:
		return true
	}
	switch {
	case r >= 0xe0100 && r <= 0xe01ef: // choose between forms of a Han character
		return false
	case r >= 0x180b && r <= 0x180f, r >= 0xfff0 && r <= 0xfff8, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// maxMarks is the number of combining marks that may follow each other. The scripts of living
// languages use at most four on one letter.
const maxMarks = 4

// isMark reports whether a terminal draws a character over the one before it.
func isMark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) }

// Visible returns s with escapes for the characters that steers refuses, for combining marks beyond
// maxMarks, and for bytes that are not UTF-8. Line feeds and tabs stay. A carriage return before a
// line feed is removed.
func Visible(s string) string {
	return escape(s, false, new(int))
}

// OneLine returns s as Visible does, with a space for each line feed and tab.
func OneLine(s string) string {
	return escape(s, true, new(int))
}

// escape implements Visible and OneLine. marks counts the combining marks at the end of what was
// written before s, and escape updates it.
func escape(s string, oneLine bool, marks *int) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || steers(r) || isMark(r) }) {
		if s != "" {
			*marks = 0
		}
		return s
	}
	var b strings.Builder
	for i, size := 0, 0; i < len(s); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(s[i:])
		if isMark(r) {
			*marks++
		} else {
			*marks = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(0x100|uint64(s[i]), 16)[1:])
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
		case (r == '\n' || r == '\t') && oneLine:
			b.WriteByte(' ')
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case steers(r), *marks > maxMarks:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Printer writes text as Visible shows it. It joins a character whose bytes are in two writes. One
// goroutine at a time may use a Printer.
type Printer struct {
	w     io.Writer
	rest  []byte // the first bytes of a character whose other bytes have not arrived
	marks int    // combining marks at the end of what was written
}

// NewPrinter returns a Printer that writes to w.
func NewPrinter(w io.Writer) *Printer { return &Printer{w: w} }

// Write implements io.Writer.
func (p *Printer) Write(data []byte) (int, error) {
	text := append(p.rest, data...)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				whole = at
			}
			break
		}
	}
	p.rest = bytes.Clone(text[whole:])
	if _, err := io.WriteString(p.w, escape(string(text[:whole]), false, &p.marks)); err != nil {
		return 0, err
	}
	return len(data), nil
}

// Out returns a writer of text for people to standard output.
func (p Process) Out() *Printer { return NewPrinter(p.Stdout) }

// Err returns a writer of text for people to standard error.
func (p Process) Err() *Printer { return NewPrinter(p.Stderr) }

// Data returns a writer of data for a person or a program, such as the result of a tool. In a
// terminal it escapes as Out does. Elsewhere it writes the bytes unchanged.
func (p Process) Data() io.Writer {
	if IsTerminal(p.Stdout) {
		return p.Out()
	}
	return p.Stdout
}

// EscapeJSON returns equivalent JSON without characters that could control a terminal. Bytes that
// are not UTF-8 become U+FFFD, as for a JSON decoder. Line feeds and tabs between values stay.
func EscapeJSON(data []byte) []byte {
	steering := func(r rune) bool { return r >= 0x7f && (r == utf8.RuneError || steers(r)) }
	if !bytes.ContainsFunc(data, steering) {
		return data
	}
	out := make([]byte, 0, len(data)+len(data)/8)
	for i, size := 0, 0; i < len(data); i += size {
		var r rune
		r, size = utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError:
			out = utf8.AppendRune(out, r)
		case !steering(r):
			out = append(out, data[i:i+size]...)
		default: // JSON allows these characters only in strings
			out = append(out, jsonEscape(r)...)
		}
	}
	return out
}

// jsonEscape returns the escape of a character in a JSON string.
func jsonEscape(r rune) string {
	quoted := strings.Trim(strconv.QuoteRuneToASCII(r), "'")
	switch {
	case strings.HasPrefix(quoted, `\x`):
		return `\u00` + quoted[2:]
	case strings.HasPrefix(quoted, `\U`):
		high, low := utf16.EncodeRune(r)
		return `\u` + strconv.FormatInt(int64(high), 16) + `\u` + strconv.FormatInt(int64(low), 16)
	}
	return quoted
}

// jsonWriter escapes JSON. Each write must contain whole values.
type jsonWriter struct{ w io.Writer }

// NewJSONWriter returns a writer that escapes JSON as EscapeJSON does. Each write must end with a
// whole character.
func NewJSONWriter(w io.Writer) io.Writer { return jsonWriter{w} }

// Write implements io.Writer.
func (j jsonWriter) Write(data []byte) (int, error) {
	if _, err := j.w.Write(EscapeJSON(data)); err != nil {
		return 0, err
	}
	return len(data), nil
}

// blanks is a run of blanks behind a character of the same line: not an indentation.
var blanks = regexp.MustCompile(`(\S)([\p{Zs}\t]{33,})`)

// CountBlanks returns a text with long runs of blanks as their number, so that they push nothing
// off the screen. It leaves indentations.
func CountBlanks(s string) string {
	return blanks.ReplaceAllStringFunc(s, func(run string) string {
		first, size := utf8.DecodeRuneInString(run)
		return fmt.Sprintf("%c [%d blanks] ", first, utf8.RuneCountInString(run[size:]))
	})
}

// blankLines is a long run of lines without a visible character, from the end of the line before.
var blankLines = regexp.MustCompile(`(?:[\p{Zs}\t]*\r?\n){9,}`)

// CountBlankLines returns a text with long runs of blank lines as their number, as CountBlanks does
// with blanks.
func CountBlankLines(s string) string {
	return blankLines.ReplaceAllStringFunc(s, func(run string) string {
		return fmt.Sprintf("\n[%d blank lines]\n", strings.Count(run, "\n")-1)
	})
}
