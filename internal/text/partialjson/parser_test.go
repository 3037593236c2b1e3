package partialjson_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/text/partialjson"
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
		{`{"a":"x\ud83d!`, `{"a":"x\ud83d!"}`}, // not a pair: encoding/json reads U+FFFD
		{"{\"a\":\"\xe2\x82", `{"a":""}`},
		{"{\"a\":\"\xe2\x82\xac", `{"a":"€"}`},
		{"{\"a\":\"\xf0\\", "{\"a\":\"\xf0\"}"}, // encoding/json reads U+FFFD
		{"{\"a\":\"\\ud83d\xe2", `{"a":"\ud83d"}`},
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

// TestLargeTextIsLinear would take too long if the parser examined each byte many times.
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

// A text is whole from its last bracket on, however it is cut.
func TestWhole(t *testing.T) {
	for text, want := range map[string]bool{
		``: false, `{`: false, `{}`: true, ` {} `: true, `[1, {"a": "}"}]`: true, `{"a": "}"`: false, `{"a": {}`: false,
		`"}"`: false, `"]`: false, `7 `: false, `true`: false, `{}}`: false, `{} x`: false, `[}`: false,
	} {
		var p partialjson.Parser
		for i := range len(text) {
			_, _ = p.Write([]byte(text[i : i+1])) // some are no JSON
		}
		if got := p.Whole(); got != want {
			t.Errorf("%q: whole is %v", text, got)
		}
	}
}
