package partialjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/partialjson"
)

func TestComplete(t *testing.T) {
	tests := []struct{ prefix, want string }{
		{``, ``},
		{" \n\t", ``},
		{`{`, `{}`},
		{`{"ci`, `{}`},
		{`{"city"`, `{}`},
		{`{"city" : `, `{}`},
		{`{"city":"`, `{"city":""}`},
		{`{"city":"Ber`, `{"city":"Ber"}`},
		{`{"city":"Berlin"`, `{"city":"Berlin"}`},
		{`{"city":"Berlin",`, `{"city":"Berlin"}`},
		{`{"city":"Berlin","da`, `{"city":"Berlin"}`},
		{`{"city":"Berlin","days":`, `{"city":"Berlin"}`},
		{`{"days":1`, `{}`},
		{`{"days":14}`, `{"days":14}`},
		{`{"days":-`, `{}`},
		{`{"days":1.5e`, `{}`},
		{`{"days":1.5e-3 `, `{"days":1.5e-3}`},
		{`{"ok":tru`, `{}`},
		{`{"ok":true`, `{"ok":true}`},
		{`[nul`, `[]`},
		{`[null`, `[null]`},
		{`[[1,2],[3`, `[[1,2],[]]`},
		{`{"a":{"b":["x`, `{"a":{"b":["x"]}}`},
		{`{"a":"x\`, `{"a":"x"}`},
		{`{"a":"x\n`, `{"a":"x\n"}`},
		{`{"a":"x\u00`, `{"a":"x"}`},
		{`{"a":"x\u00e9`, `{"a":"x\u00e9"}`},
		{`{"a":"x\ud83d`, `{"a":"x"}`},
		{`{"a":"x\ud83d\`, `{"a":"x"}`},
		{`{"a":"x\ud83d\ude`, `{"a":"x"}`},
		{`{"a":"x\ud83d\ude00`, `{"a":"x\ud83d\ude00"}`},
		{`{"a":"x\ud83d!`, `{"a":"x\ud83d!"}`}, // no pair: encoding/json reads U+FFFD
		{"{\"a\":\"\xe2\x82", `{"a":""}`},
		{"{\"a\":\"\xe2\x82\xac", `{"a":"€"}`},
		{`"top`, `"top"`},
		{`12`, ``},
		{`12 `, `12`},
	}
	for _, tt := range tests {
		t.Run(tt.prefix, func(t *testing.T) {
			got, err := partialjson.Complete([]byte(tt.prefix))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got != nil && !json.Valid(got) {
				t.Errorf("%s is not JSON", got)
			}
		})
	}
}

func TestCompleteRefuses(t *testing.T) {
	tests := []struct {
		prefix string
		offset int64
	}{
		{`}`, 0},
		{`{]`, 1},
		{`{a`, 1},
		{`{"a"1`, 4},
		{`{"a":1,}`, 7},
		{`[1,]`, 3},
		{`[1 2`, 3},
		{`[01`, 2},
		{`[-]`, 2},
		{`[1.]`, 3},
		{`[1e+]`, 4},
		{`trux`, 3},
		{`"\x`, 2},
		{`"\u00g`, 5},
		{"\"a\nb", 2},
		{`{} x`, 3},
		{`1 2`, 2},
		{`[{"a":1]`, 7},
	}
	for _, tt := range tests {
		t.Run(tt.prefix, func(t *testing.T) {
			_, err := partialjson.Complete([]byte(tt.prefix))
			syntax, ok := errors.AsType[*partialjson.SyntaxError](err)
			if !ok {
				t.Fatalf("got %v, want a SyntaxError", err)
			}
			if syntax.Offset != tt.offset {
				t.Errorf("offset %d (%v), want %d", syntax.Offset, err, tt.offset)
			}
		})
	}
}

func TestParserKeepsTheValueAfterAnError(t *testing.T) {
	var p partialjson.Parser
	if _, err := p.Write([]byte(`{"a":"b"`)); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Write([]byte(` ;`)); err == nil || n != 1 {
		t.Fatalf("Write = %d, %v; want 1 and an error", n, err)
	}
	if _, err := p.Write([]byte(`}`)); err == nil {
		t.Error("a later Write succeeded")
	}
	if got := string(p.Value()); got != `{"a":"b"}` {
		t.Errorf("Value = %s", got)
	}
}

func TestDepthIsBounded(t *testing.T) {
	deepest := strings.Repeat("[", 10_000)
	value, err := partialjson.Complete([]byte(deepest))
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(value) {
		t.Error("encoding/json refuses what the parser accepts")
	}
	if _, err := partialjson.Complete([]byte(deepest + "[")); err == nil {
		t.Error("one level more was accepted")
	}
}

// TestLargeTextIsLinear would not end in reasonable time if reading cost more than a few looks at each byte.
func TestLargeTextIsLinear(t *testing.T) {
	var p partialjson.Parser
	_, _ = p.Write([]byte(`{"text":"`))
	for range 1 << 20 {
		if _, err := p.Write([]byte("ä")); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := len(p.Value()), len(`{"text":""}`)+2<<20; got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}

func FuzzPrefixes(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-2.5e+3,{"b":null,"c":"x\ud83d\ude00\n"}],"d":true}`,
		`["\u00e9","é","\ud800",false,{}]`,
		`"\ud800\ud800\udc00"`,
		"\"\xe2\x28\xe2\x82\xac\"",
		` { "k" : 0 , "l" : [ ] } `,
		`-0.0`, `{"a"`, `[1,]`, "\"\xff\"",
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
		// A number ends where something follows it.
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

// decode also reports whether no object has a property twice: encoding/json keeps the last of them, which a prefix
// cannot know.
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

// stripStrings removes the insides of strings, so that only structure remains.
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

// within reports whether part says nothing that whole does not say.
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
