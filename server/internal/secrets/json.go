package secrets

import (
	"bytes"
	"encoding/json"
	"strings"
)

// json returns a JSON value without secrets, whichever escapes its strings use.
func (m *matcher) json(value []byte) []byte {
	text := string(value)
	// A string that escapes no more than necessary contains a secret only in a known form.
	if m.text(text) == text && !strings.Contains(text, `\u`) && !strings.Contains(text, `\/`) && !m.wrapped(text) {
		return value
	}
	redacted := m.tokens(value)
	if m.spans {
		if text, whole := string(redacted), ""; m.text(text) != text {
			whole = m.text(text)
			if !json.Valid([]byte(whole)) {
				whole = quoted(whole)
			}
			return []byte(whole)
		}
	}
	if bytes.Equal(redacted, value) {
		return value
	}
	return redacted
}

// unescapedLines makes each line of each JSON string a line.
var unescapedLines = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `"`, "\n")

// wrapped reports whether JSON may contain a secret that extends over several lines, with escaped
// line breaks.
func (m *matcher) wrapped(text string) bool {
	if !strings.Contains(text, `\n`) {
		return false
	}
	lines := unescapedLines.Replace(text)
	return m.unwrapped(lines) != lines
}

// tokens returns JSON with each of its tokens redacted.
func (m *matcher) tokens(value []byte) []byte {
	out := make([]byte, 0, len(value)+64)
	for i := 0; i < len(value); {
		end := tokenEnd(value, i)
		token := string(value[i:end])
		switch {
		case token[0] == '"':
			out = append(out, m.quoted(token)...)
		case m.text(token) != token: // a number
			out = append(out, quoted(m.text(token))...)
		default:
			out = append(out, token...)
		}
		i = end
	}
	return out
}

// quoted returns a JSON string, with its quotes, without secrets.
func (m *matcher) quoted(token string) string {
	if !strings.Contains(token, `\`) {
		return m.text(token)
	}
	var plain string
	if json.Unmarshal([]byte(token), &plain) != nil {
		return m.text(token) // not JSON
	}
	redacted := m.text(plain)
	if redacted == plain {
		return token
	}
	return quoted(redacted)
}

// quoted returns a text as a JSON string.
func quoted(text string) string {
	encoded, _ := json.Marshal(text) // a string cannot fail
	return string(encoded)
}

// tokenEnd returns the end of the token that begins at an index. A character that does not belong
// to a string, number or word is a token.
func tokenEnd(value []byte, begin int) int {
	const ends = " \t\r\n\"{}[],:"
	end := begin + 1
	switch {
	case value[begin] == '"':
		for end < len(value) && value[end] != '"' {
			if value[end] == '\\' {
				end++
			}
			end++
		}
		return min(end+1, len(value))
	case strings.IndexByte(ends, value[begin]) >= 0:
		return end
	}
	for end < len(value) && strings.IndexByte(ends, value[end]) < 0 {
		end++
	}
	return end
}
