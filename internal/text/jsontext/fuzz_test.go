package jsontext_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

// FuzzParse compares the single pass over a text with encoding/json and the checks around it. Both
// must accept the same texts and return the same values.
func FuzzParse(f *testing.F) {
	for _, text := range textsToRead {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { _, _ = checkRead(t, text) })
}

// TestParseReadsWhatEncodingJSONReads is FuzzParse for texts that combine pieces on which readers
// of JSON differ.
func TestParseReadsWhatEncodingJSONReads(t *testing.T) {
	for _, text := range textsToRead {
		_, _ = checkRead(t, text)
	}
	pieces := []string{`{`, `}`, `[`, `]`, `,`, `:`, ` `, `"`, `"a"`, `"b"`, `"\u0061"`, `1`, `-`, `0`, `.5`, `e+1`, `true`, `nul`, `\`}
	for i := range len(pieces) * len(pieces) {
		text := pieces[i%len(pieces)] + pieces[i/len(pieces)]
		for _, around := range []string{`%`, `{%}`, `{"a":%}`, `{"a":1,%}`, `{"a":[%]}`, `{"a":"%"}`, `{"b":"12345678%"}`} {
			_, _ = checkRead(t, strings.Replace(around, "%", text, 1))
		}
	}
}

// textsToRead are texts on which readers of JSON may differ.
var textsToRead = []string{
	``, " \n", "\u00a0", `{}`, "{}\u00a0", "\u00a0{}", `{"a":1,"a":2}`, `{"a":1,"b":2,"a":3}`, `{"b":1,"a":2,"\u0062":3}`, `{"a":1,}`, `{,}`, `{"a"}`, `[]`, `"{}"`,
	`{"a":01}`, `{"a":-}`, `{"a":-0}`, `{"a":1.}`, `{"a":.1}`, `{"a":1e}`, `{"a":1e+}`, `{"a":1E-0400}`, `{"a":1e401}`, `{"a":1e-401}`, `{"a":0.0e00000000000000000000000}`,
	`{"a":100000000000000000000}`, `{"a":1000000000000000000000}`, `{"a":-1000000000000000000000}`, `{"a":1000000000000000000000.0}`, `{"n":1` + strings.Repeat("0", 2000) + `}`,
	`{"a":"\u0000\u001f\u007f\u0080\u2028\u2029\uFFFD\uffff\/\"\\\b\f\n\r\t<>&"}`, "{\"a\":\"\u2028\u2029\u202a\ufffd\x7f<>&\"}", `{"a":"\ud83d\ude00\uD83D\uDE00"}`,
	`{"a":"\ud83d"}`, `{"a":"\ude00"}`, `{"a":"\ud83d\u0041"}`, `{"a":"\ud83d\ud83d\ude00"}`, `{"a":"\u12g4"}`, `{"a":"\u12"}`, `{"a":"\x"}`, "{\"a\":\"\n\"}", "{\"a\":\"\x00\"}", "{\"a\":\"\xc3\"}",
	`{"é":1,"e":2,"\u00e8":3,"ÿ":4,"\ud83d\ude00":5,"\uffff":6,"":7,"z\n":8,"z":9,"z\t":10}`, `{"\/":1,"/":2}`, `{"a":{"c":[{"z":1,"y":{}}],"b":[]},"A":[[],{}]}`,
	`{"a":tru}`, `{"a":truee}`, `{"a":nulll}`, `{"a":True}`, `{"a":"12345678901234567890\"12345678"}`, `{"a":[1,]}`, `{"a":[,1]}`, `{"a":[1 2]}`, `{"a":1 "b":2}`, `{"a":{]}`, `{} {}`, `{}x`, "{}\x00", "\ufeff{}",
}

// checkRead parses a text, checks the result and returns it.
func checkRead(t *testing.T, text string) (jsontext.Parsed, error) {
	t.Helper()
	given := []byte(text)
	p, err := jsontext.Parse(given)
	checkWords(t, err)
	if strings.TrimSpace(text) != "" {
		if wrong := jsontext.Wrong([]byte(text)); (wrong == nil) != (err == nil) {
			t.Fatalf("%q: parsing says %v, encoding/json %v", text, err, wrong)
		}
	}
	if err == nil {
		clear(given) // Parse must not keep the text
		checkParsed(t, text, p)
	}
	return p, err
}

// checkParsed checks that a parsed value is the one that encoding/json returns.
func checkParsed(t *testing.T, text string, p jsontext.Parsed) {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	var want map[string]any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&want); err != nil {
		t.Fatalf("%q was parsed, but encoding/json says: %v", text, err)
	}
	var canonical bytes.Buffer
	enc := json.NewEncoder(&canonical)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(want); err != nil || strings.TrimSuffix(canonical.String(), "\n") != string(p.Canonical()) {
		t.Fatalf("%q became %s, want %s (%v)", text, p.Canonical(), &canonical, err)
	}
	if got := p.Object(); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q became %#v, want %#v", text, got, want)
	}
	if got, want := string(p.Meaning()), string(jsontext.MeaningOfAll(p)); got != want {
		t.Fatalf("%q means %s, want %s", text, got, want)
	}
}

// checkWords checks an error that is written for a model.
func checkWords(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	words := err.Error()
	if !utf8.ValidString(words) || len(words) > 16<<10 {
		t.Fatalf("the error has %d bytes: %.300q", len(words), words)
	}
}
