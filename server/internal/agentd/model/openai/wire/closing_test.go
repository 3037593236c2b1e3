package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// A text is complete after the same piece, however it arrives, and json.Valid agrees.
func TestClosing(t *testing.T) {
	for _, text := range []string{
		`{}`, ` {} `, `[]`, `[{},{"a":[1]}]`, `{"a":"}"}`, `{"a":"\"}"}`, `{"a":"\\"}`, `{"a":"\\\"}"}`, "{\"a\":\"\\u007d\"}\n",
		`{}{}`, `{} x`, `}{`, `]`, `{]`, `{"a"}`, `{"a":1}}`, `"a"`, `"}"`, `1`, `null`, `x{}`, ``, ` `, `{"a":"`, `[DONE]`, `{"a":{}`,
	} {
		var c Closing
		for i := range len(text) {
			c.Add([]byte(text[i : i+1]))
			if got, want := complete(&c, text[:i+1]), isWhole(text[:i+1]); got != want {
				t.Errorf("%q: complete is %v, want %v", text[:i+1], got, want)
			}
		}
		var whole Closing
		if whole.Add([]byte(text)); complete(&whole, text) != isWhole(text) {
			t.Errorf("%q at once: want %v", text, isWhole(text))
		}
	}
}

// FuzzClosing compares Closing with json.Valid.
func FuzzClosing(f *testing.F) {
	f.Add(`{"a":["\\\"}",{}]} `, 3)
	f.Add(`{}{`, 1)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = max(0, min(cut, len(text)))
		var c Closing
		c.Add([]byte(text[:cut]))
		if complete(&c, text[:cut]) != isWhole(text[:cut]) {
			t.Errorf("%q: want %v", text[:cut], isWhole(text[:cut]))
		}
		c.Add([]byte(text[cut:]))
		if complete(&c, text) != isWhole(text) {
			t.Errorf("%q after %d bytes: want %v", text, cut, isWhole(text))
		}
	})
}

func isWhole(text string) bool {
	trimmed := strings.Trim(text, blank)
	return trimmed != "" && strings.IndexByte("{[", trimmed[0]) >= 0 && json.Valid([]byte(text))
}

func complete(c *Closing, text string) bool {
	return c.Complete(func() bool { return json.Valid([]byte(text)) })
}

// The whole text is read once, however often it ends with a bracket.
func TestClosingReadsOnce(t *testing.T) {
	for _, piece := range []string{`{"a":[`, `{},`, `"]}",`, `x]}`, ` `, `}`} {
		var c Closing
		reads := 0
		c.Add([]byte(`[`))
		for range 1000 {
			c.Add([]byte(piece))
			c.Complete(func() bool { reads++; return false })
		}
		if reads > 1 {
			t.Errorf("pieces %q: read %d times", piece, reads)
		}
	}
}
