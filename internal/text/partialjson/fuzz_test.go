package partialjson_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/text/partialjson"
)

// FuzzPrefixes compares the parser with encoding/json for every prefix of any text and any way to
// cut the prefix. The value of a prefix must contain all that the prefix determines, and nothing
// else.
func FuzzPrefixes(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e+3,{"b":null,"c":"x\ud83d\ude00\n"}],"d":true}`,
		`["\u00e9","é","\ud800",false,{}]`,
		`"\ud800\ud800\udc00"`,
		"\"\xe2\x28\xe2\x82\xac\"",
		` { "k" : 0 , "l" : [ ] } `,
		`-0.0`, "\"\xd4\xd4", `{"a"`, `[1,]`, "\"\xff\"",
		`{"":"\ud83d\n","\ud83d":[0e1,"\\\""],"x":"\u0000\udc00\ud83d\u0041"}`,
		"[\"\xf0\x9f\x98\x80\xf0\x9f\",\"\xc3(\",[[],{}]]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 300 {
			return
		}
		valid := json.Valid(text)
		if !valid {
			for end := range len(text) + 1 {
				if value, err := partialjson.Complete(text[:end]); err == nil && value != nil && !json.Valid(value) {
					t.Fatalf("%q gives %q, which is not JSON", text[:end], value)
				}
			}
			return
		}
		whole, unique := decode(t, text)
		// A number ends where another byte follows it.
		value, err := partialjson.Complete(append(bytes.Clone(text), ' '))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got, _ := decode(t, value); !cmp.Equal(got, whole) {
			t.Fatalf("%q reads as %s", text, value)
		}
		var p partialjson.Parser
		for end := range len(text) + 1 {
			if end > 0 {
				if _, err := p.Write(text[end-1 : end]); err != nil {
					t.Fatalf("%q: %v", text[:end], err)
				}
			}
			value := p.Value()
			if want := longest(text[:end]); !bytes.Equal(compact(t, value), compact(t, want)) {
				t.Fatalf("%q gives %q, want %q", text[:end], value, want)
			}
			if once, err := partialjson.Complete(text[:end]); err != nil || !bytes.Equal(once, value) {
				t.Fatalf("%q at once gives %q, %v; in pieces %q", text[:end], once, err, value)
			}
			if value == nil {
				continue
			}
			part, _ := decode(t, value)
			if unique && !within(part, whole) {
				t.Fatalf("%q gives %s, which %q does not hold", text[:end], value, text)
			}
		}
	})
}

// longest returns the longest part of a prefix that is valid JSON once it is closed, and that later
// bytes cannot change, except for a string that may grow. It tries all parts. It returns nil if
// there is none.
func longest(prefix []byte) []byte {
	for end := len(prefix); end > 0; end-- {
		closing, open := closers(prefix[:end])
		closed := append(bytes.Clone(prefix[:end]), closing...)
		if json.Valid(closed) && !changeable(prefix, end, open) {
			return closed
		}
	}
	return nil
}

// compact returns a JSON text without white space between its tokens.
func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	if text == nil {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return b.Bytes()
}

// closers returns the bytes that close a text, and whether the first of them closes a string.
func closers(text []byte) (closing []byte, open bool) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case open && c == '\\':
			i++
		case c == '"':
			open = !open
		case open:
		case c == '{' || c == '[':
			closing = append([]byte{c + 2}, closing...)
		case c == '}' || c == ']':
			closing = closing[1:]
		}
	}
	if open {
		closing = append([]byte{'"'}, closing...)
	}
	return closing, open
}

// highSurrogate matches an escape that may be the first half of a surrogate pair, or the beginning
// of the escape after it.
var highSurrogate = regexp.MustCompile(`(?i)(^|[^\\])(\\\\)*\\ud[89ab][0-9a-f]{2}$`)

// changeable reports whether later bytes can change the meaning of a prefix up to end.
func changeable(prefix []byte, end int, open bool) bool {
	text := prefix[:end]
	if open {
		at := 0
		for at < end && utf8.FullRune(prefix[at:]) {
			_, size := utf8.DecodeRune(prefix[at:])
			at += size
		}
		pair := end == len(prefix) || prefix[end] == '\\' // the second half may follow
		return at != end || pair && highSurrogate.Match(text)
	}
	const number = "+-.0123456789eE"
	inNumber := bytes.IndexByte([]byte("0123456789"), text[end-1]) >= 0
	return inNumber && (end == len(prefix) || strings.IndexByte(number, prefix[end]) >= 0)
}

// decode decodes a text, and also reports whether no object contains a property twice.
// encoding/json uses the last of several, which the parser of a prefix cannot know.
func decode(t *testing.T, text []byte) (value any, unique bool) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatalf("decoding %q: %v", text, err)
	}
	return value, countNames(value) == bytes.Count(stripStrings(text), []byte(":"))
}

func countNames(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			n += 1 + countNames(child)
		}
	case []any:
		for _, child := range v {
			n += countNames(child)
		}
	}
	return n
}

// stripStrings removes the content of strings, so that only structure remains.
func stripStrings(text []byte) []byte {
	var out []byte
	inside, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case !inside:
			out = append(out, c)
		}
	}
	return out
}

// within reports whether whole contains all of part.
func within(part, whole any) bool {
	switch part := part.(type) {
	case map[string]any:
		whole, ok := whole.(map[string]any)
		for key, child := range part {
			full, has := whole[key]
			ok = ok && has && within(child, full)
		}
		return ok
	case []any:
		whole, ok := whole.([]any)
		if !ok || len(part) > len(whole) {
			return false
		}
		for i, child := range part {
			if !within(child, whole[i]) {
				return false
			}
		}
		return true
	case string:
		whole, ok := whole.(string)
		return ok && strings.HasPrefix(whole, part)
	default:
		return part == whole
	}
}
