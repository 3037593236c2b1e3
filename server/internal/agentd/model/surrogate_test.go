package model_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Wherever a JSON string is split into two pieces, the joined text is the same, and each piece is
// valid UTF-8.
func TestJoiner(t *testing.T) {
	for text, want := range map[string]string{
		`a\ud83d\ude00b`:        "a😀b",
		`\ud83dx`:               "\uFFFDx",
		`\ude00\ud83d`:          "\uFFFD\uFFFD",
		`\\ud83d\ude00`:         "\\ud83d\uFFFD",
		`\ud83d\ud83d\ude00`:    "\uFFFD😀",
		`\u00e9\ud83d\n\ude00é`: "é\uFFFD\n\uFFFDé",
	} {
		for cut := range len(text) + 1 {
			first, second := []byte(`"`+text[:cut]+`"`), []byte(`"`+text[cut:]+`"`)
			if !json.Valid(first) || !json.Valid(second) || !utf8.Valid(first) {
				continue // a server does not split here
			}
			var j model.Joiner
			got := ""
			for _, piece := range [][]byte{first, second} {
				text, err := model.Unquote(piece)
				if err != nil {
					t.Fatal(err)
				}
				got += j.Add(text)
				if !utf8.ValidString(got) {
					t.Errorf("%q is no UTF-8", got)
				}
			}
			if got += j.Rest(); got != want {
				t.Errorf("%s cut at %d is %q, want %q", text, cut, got, want)
			}
		}
	}
}

func FuzzUnquote(f *testing.F) {
	f.Add(`"\ud83d\ude00"`)
	f.Add("\"\xff\\ud83d\"")
	f.Fuzz(func(t *testing.T, literal string) {
		var want string
		if !strings.HasPrefix(literal, `"`) || json.Unmarshal([]byte(literal), &want) != nil {
			return
		}
		got, err := model.Unquote([]byte(literal))
		if err != nil {
			t.Fatal(err)
		}
		var j model.Joiner
		if got = j.Add(got); got+j.Rest() != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func FuzzCleanJSON(f *testing.F) {
	f.Add(`{"a":"\ud83d","b":"\\ud83d\ud83d\ude00"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		clean := model.CleanJSON(json.RawMessage(text))
		var before, after any
		if json.Unmarshal([]byte(text), &before) != nil {
			return
		}
		if err := json.Unmarshal(clean, &after); err != nil || !utf8.Valid(clean) {
			t.Fatalf("%q became %q: %v", text, clean, err)
		}
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(after)
		if utf8.ValidString(text) && string(a) != string(b) {
			t.Errorf("%s became %s", a, b)
		}
		if again := model.CleanJSON(clean); string(again) != string(clean) {
			t.Errorf("%q is cleaned once more to %q", clean, again)
		}
	})
}
