package model

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON escapes a character beyond U+FFFF as two surrogates. A server that splits a text into pieces
// may split it between them, and a model may write only one of them. encoding/json replaces each
// lone surrogate by U+FFFD, so the character would be lost. A lone surrogate that stays in an
// escape makes later requests fail at servers that check for it. The functions in this file keep
// lone surrogates until the pieces are joined. Their results are always valid Unicode.

// Unquote returns the text of a JSON string. A lone surrogate becomes three bytes that are not
// valid UTF-8 (its WTF-8 form), which Joiner.Add understands.
func Unquote(literal []byte) (string, error) {
	if !bytes.Contains(literal, []byte(`\u`)) {
		var text string
		err := json.Unmarshal(literal, &text)
		return text, err
	}
	var out strings.Builder
	quoted := []byte{'"'}
	for rest := literal[1:]; ; {
		at, unit := findHalf(rest)
		if at < 0 {
			var last string
			err := json.Unmarshal(append(quoted[:1], rest...), &last)
			return out.String() + last, err
		}
		var before string
		quoted = append(append(quoted[:1], rest[:at]...), '"')
		if err := json.Unmarshal(quoted, &before); err != nil {
			return "", err
		}
		out.WriteString(before)
		out.Write([]byte{0xE0 | byte(unit>>12), 0x80 | byte(unit>>6)&0x3F, 0x80 | byte(unit)&0x3F})
		rest = rest[at+6:]
	}
}

// findHalf returns the offset of the first escape with a lone surrogate in JSON text, and the
// surrogate. The offset is -1 if there is none.
func findHalf(text []byte) (at int, unit rune) {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		unit, ok := escape(text[i:])
		switch {
		case !ok:
			i++ // skip the escaped character, which may be a backslash
		case !utf16.IsSurrogate(unit):
			i += 5
		default:
			if low, ok := escape(text[i+6:]); ok && utf16.DecodeRune(unit, low) != utf8.RuneError {
				i += 11
				continue
			}
			return i, unit
		}
	}
	return -1, 0
}

// escape returns the code unit of an escape \uXXXX at the start of text.
func escape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit), err == nil
}

// Joiner joins the pieces of a text. The zero value is ready to use. It is not safe for concurrent
// use.
type Joiner struct{ held string }

// Add returns the next piece as valid UTF-8. It keeps a high surrogate at the end for the next
// piece. U+FFFD replaces other invalid bytes.
func (j *Joiner) Add(piece string) string {
	text := j.held + piece
	j.held = ""
	if n := len(text); n >= 3 && text[n-3] == 0xED && text[n-2] >= 0xA0 && text[n-2] < 0xB0 {
		text, j.held = text[:n-3], text[n-3:]
	}
	return valid(text)
}

// Rest returns the rest at the end of the text: U+FFFD for a kept surrogate, or nothing.
func (j *Joiner) Rest() string {
	held := j.held
	j.held = ""
	return valid(held)
}

// valid joins pairs of surrogates, and replaces every other invalid sequence by U+FFFD.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if half, ok := halfAt(text); ok {
			r, n = utf8.RuneError, 3
			if low, ok := halfAt(text[3:]); ok {
				if pair := utf16.DecodeRune(half, low); pair != utf8.RuneError {
					r, n = pair, 6
				}
			}
		}
		out.WriteRune(r)
		text = text[n:]
	}
	return out.String()
}

// halfAt returns the surrogate that the first three bytes of text encode.
func halfAt(text string) (rune, bool) {
	if len(text) < 3 || text[0] != 0xED || text[1] < 0xA0 || text[1] > 0xBF || text[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(text[1]&0x3F)<<6 | rune(text[2]&0x3F), true
}

// CleanJSON returns JSON in which U+FFFD replaces invalid UTF-8 and lone surrogates. All other
// bytes stay the same.
func CleanJSON(text json.RawMessage) json.RawMessage {
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	at, _ := findHalf(text)
	if at < 0 {
		return text
	}
	clean := make(json.RawMessage, 0, len(text))
	for ; at >= 0; at, _ = findHalf(text) {
		clean = append(append(clean, text[:at]...), `\ufffd`...)
		text = text[at+6:]
	}
	return append(clean, text...)
}
