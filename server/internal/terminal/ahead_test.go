package terminal

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// What a terminal sends while a model works makes messages, and never more than their bounds.
func TestKeysMakeMessages(t *testing.T) {
	for name, tt := range map[string]struct {
		keys   string
		queued []string
		text   string
	}{
		"one":                    {"hi\r", []string{"hi"}, ""},
		"two and a begun one":    {"one\rtwo\nthr", []string{"one", "two"}, "thr"},
		"nothing":                {"\r  \r", nil, ""},
		"backspace":              {"ab\x7f\x08c", nil, "c"},
		"backspace at the begin": {"\x7fa", nil, "a"},
		"wide characters":        {"日本\x7f語\r", []string{"日語"}, ""},
		"half a character":       {"a\xe6\x97", nil, "a"},
		"Ctrl-U":                 {"gone\x15new", nil, "new"},
		"Ctrl-W":                 {"one two  \x17three", nil, "one three"},
		"arrows and keys":        {"a\x1b[D\x1b[1;5C\x1bOP\x1bb\x01b", nil, "ab"},
		"a backslash":            {"one\\\rtwo\r", []string{"one\ntwo"}, ""},
		"Alt-Enter":              {"one\x1b\rtwo\r", []string{"one\ntwo"}, ""},
		"a paste":                {"see \x1b[200~a\rb\r\nc\x1b[201~!\r", []string{"see a\nb\nc!"}, ""},
		"control characters":     {"a\x00\x05\x1cb\tc\r", []string{"ab\tc"}, ""},
		"an endless sequence":    {"\x1b[" + strings.Repeat("1", 100) + "a", nil, strings.Repeat("1", 70) + "a"},
		"too many":               {strings.Repeat("m\r", maxQueued+1), slices.Repeat([]string{"m"}, maxQueued), "m"},
		"too long":               {strings.Repeat("x", maxEditedBytes+1), nil, strings.Repeat("x", maxEditedBytes)},
	} {
		t.Run(name, func(t *testing.T) {
			a := &Ahead{changed: make(chan struct{}, 1)}
			for chunk := range slices.Chunk([]byte(tt.keys), 3) { // a terminal ends a read anywhere
				a.take(bytes.Clone(chunk))
			}
			if queued, text := a.Waiting(); !slices.Equal(queued, tt.queued) || text != tt.text {
				t.Errorf("%q and %q wait; want %q and %q", queued, text, tt.queued, tt.text)
			}
			<-a.Changed()
		})
	}
}

func TestWhatWaitsIsTakenOnce(t *testing.T) {
	a := &Ahead{changed: make(chan struct{}, 1)}
	a.take([]byte("one\rtwo\rthree\rfour"))
	if got := a.Next(); got != "one" {
		t.Errorf("the first is %q", got)
	}
	a.Hold()
	if got := a.Next(); got != "" {
		t.Errorf("%q is sent", got)
	}
	if got := a.Rest(); got != "two\nthree\nfour" {
		t.Errorf("the rest is %q", got)
	}
	if got := a.Rest(); got != "" {
		t.Errorf("%q is there twice", got)
	}
	var none *Ahead
	none.Start()
	none.Hold()
	none.Stop()
	if none.Next() != "" || none.Rest() != "" || none.Changed() != nil || none.Lines(80) != nil {
		t.Error("nothing takes something")
	}
}

// What waits takes one line for each message, without control characters, and shows the end of what
// is being typed.
func TestLinesOfWhatWaits(t *testing.T) {
	a := &Ahead{changed: make(chan struct{}, 1)}
	a.take([]byte("one\x1b\rmore\r" + strings.Repeat("long ", 20) + "\rab" + strings.Repeat("語", 30) + "end"))
	got := a.Lines(30)
	want := []string{"› one more (queued)", "› long long long lo… (queued)", "› …語語語語語語語語語語語end"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
