package process

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	tests := []struct {
		name   string
		writes []string
		want   []string
	}{
		{"nothing", nil, nil},
		{"lines", []string{"a\nb\n"}, []string{"a", "b"}},
		{"in pieces", []string{"a", "b\nc", "", "d\n"}, []string{"ab", "cd"}},
		{"empty lines", []string{"\n\na\n"}, []string{"", "", "a"}},
		{"no end", []string{"a\nb"}, []string{"a", "b"}},
		{"carriage returns", []string{"a\r\nb\r\r\n"}, []string{"a", "b\r"}},
		{"no UTF-8", []string{"a\xffb\n"}, []string{"a\uFFFDb"}},
		{"as long as may be", []string{long + "\n"}, []string{long}},
		{"longer", []string{long + "x\nb\n"}, []string{long + cutMark, "b"}},
		{"longer in pieces", []string{long, "x", "x", "\nb\n"}, []string{long + cutMark, "b"}},
		{"longer without end", []string{long + long}, []string{long + cutMark}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			l := lines{emit: func(line string) { got = append(got, line) }}
			for _, text := range test.writes {
				if n, err := l.Write([]byte(text)); n != len(text) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			l.Flush()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if cap(l.buf) > 2*maxLine {
				t.Errorf("%d bytes are held", cap(l.buf))
			}
		})
	}
}

// TestLinesAreRedacted: Redact gets complete lines before any other processing, however they were
// written.
func TestLinesAreRedacted(t *testing.T) {
	type line struct {
		text string
		cut  bool
	}
	var seen []line
	var got []string
	l := lines{
		limit: 10,
		emit:  func(line string) { got = append(got, line) },
		redact: func(text string, cut bool) string {
			seen = append(seen, line{text, cut})
			return "<" + text + ">"
		},
	}
	for _, text := range []string{"sec", "ret\r\n0123456", "789secret\xff\n", "\xff"} {
		_, _ = l.Write([]byte(text))
	}
	l.Flush()
	if diff := cmp.Diff([]line{{"secret", false}, {"0123456789", true}, {"\xff", false}}, seen, cmp.AllowUnexported(line{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"<secret>", "<0123456789>" + cutMark, "<\uFFFD>"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget{burst: 3, perSecond: 2}
		take := func(n int) (taken int) {
			for range n {
				if b.take(time.Now()) {
					taken++
				}
			}
			return taken
		}
		if got := take(10); got != 3 {
			t.Errorf("%d at once, want 3", got)
		}
		time.Sleep(time.Second)
		if got := take(10); got != 2 {
			t.Errorf("%d after a second, want 2", got)
		}
		time.Sleep(time.Hour)
		if got := take(10); got != 3 {
			t.Errorf("%d after an hour, want 3", got)
		}
	})
}
