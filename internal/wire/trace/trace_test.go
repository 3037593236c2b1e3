package trace_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/wire/trace"
)

func TestParse(t *testing.T) {
	const text = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	c, ok := trace.Parse(text)
	if !ok || c.String() != text || !c.Sampled {
		t.Errorf("got %+v, %v, %q", c, ok, c.String())
	}
	if c.Sampled = false; c.String() != text[:len(text)-1]+"0" {
		t.Errorf("not sampled: %q", c)
	}
	if (trace.Context{}).String() != "" {
		t.Error("the zero Context has a text")
	}
	for name, text := range map[string]string{
		"empty": "", "short": text[:54], "long": text + "0", "upper case": strings.ToUpper(text), "another version": "01" + text[2:],
		"no trace": "00-" + strings.Repeat("0", 32) + text[35:], "no span": text[:36] + strings.Repeat("0", 16) + "-01",
		"no hex": strings.Replace(text, "a", "g", 1), "no dash": strings.Replace(text, "-b", "_b", 1),
	} {
		if c, ok := trace.Parse(text); ok {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := trace.Parse(text)
		if ok != c.Valid() || ok && c.String()[:53] != text[:53] {
			t.Errorf("%q is %+v, %v", text, c, ok)
		}
	})
}

// Clip bounds a span, whatever the plugin sent.
func TestClip(t *testing.T) {
	now := time.Unix(1, 0)
	long := strings.Repeat("ä", trace.MaxText)
	s := trace.Span{
		ID: trace.NewSpanID(), Name: long, Start: now, End: now, Message: "\xff" + long,
		Attributes: []slog.Attr{slog.String("toolhost.plugin", "another"), slog.String("", "no key"), slog.Any("any", t), slog.String(long, long)},
		Events:     []trace.Event{{Name: long, Time: now}},
	}
	for range 2 * trace.MaxAttributes {
		s.Attributes = append(s.Attributes, slog.Int64("n", 1))
		s.Events = append(s.Events, trace.Event{Time: now, Attributes: s.Attributes})
	}
	got := s.Clip()
	if len(got.Attributes) != trace.MaxAttributes || len(got.Events) != trace.MaxEvents || len(got.Events[1].Attributes) > trace.MaxEventAttributes {
		t.Errorf("there are %d attributes and %d events", len(got.Attributes), len(got.Events))
	}
	if want := strings.Repeat("ä", trace.MaxName/2); got.Name != want || got.Events[0].Name != want || got.Attributes[0].Key != want {
		t.Errorf("names: %q, %q, %q", got.Name, got.Events[0].Name, got.Attributes[0].Key)
	}
	if len(got.Message) > trace.MaxText || got.Message[0] != '?' || len(got.Attributes[0].Value.String()) != trace.MaxText {
		t.Errorf("texts: %d, %q", len(got.Attributes[0].Value.String()), got.Message)
	}
	small := trace.Span{ID: s.ID, Name: "query", Attributes: []slog.Attr{slog.Bool("ok", true)}, Events: []trace.Event{}}
	if diff := cmp.Diff(small.Name, small.Clip().Name); diff != "" || len(small.Clip().Attributes) != 1 {
		t.Errorf("a small span changed: %+v", small.Clip())
	}
}
