package process

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	begin, end := long[maxLine/endShare:], long[:maxLine/endShare]
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
		{"longer", []string{long + "y\nb\n"}, []string{begin + cutMark + end[1:] + "y", "b"}},
		{"longer in pieces", []string{long, "y", "z", "\r\nb\n"}, []string{begin + cutMark + end[2:] + "yz", "b"}},
		{"longer without line end", []string{long + long + "the reason"}, []string{begin + cutMark + end[10:] + "the reason"}},
		{"very long in pieces", slices.Concat(slices.Repeat([]string{long}, 9), []string{"the ", "reason\n"}), []string{begin + cutMark + end[10:] + "the reason"}},
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
			if held := cap(l.buf) + cap(l.over); held > 6*maxLine {
				t.Errorf("%d bytes are held", held)
			}
		})
	}
}

// Redact gets complete lines before any other processing, however they were written. A last line
// without a line end is a part of a line: its process may have been killed while it wrote.
func TestLinesAreRedacted(t *testing.T) {
	type line struct {
		text          string
		headless, cut bool
	}
	var seen []line
	var got []string
	l := lines{
		limit: 10,
		emit:  func(line string) { got = append(got, line) },
		redact: func(text string, headless, cut bool) string {
			seen = append(seen, line{text, headless, cut})
			return "<" + text + ">"
		},
	}
	for _, text := range []string{"sec", "ret\r\n0123456", "789secret\xff\n", "\xff"} {
		_, _ = l.Write([]byte(text))
	}
	l.Flush()
	_, _ = l.Write([]byte("0123456789sec"))
	l.Flush()
	if diff := cmp.Diff([]line{
		{"secret", false, false}, {"01234567", false, true}, {"t\xff", true, false},
		{"\xff", false, true}, {"01234567", false, true}, {"ec", true, true},
	}, seen, cmp.AllowUnexported(line{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"<secret>", "<01234567>" + cutMark + "<t\uFFFD>", "<\uFFFD>", "<01234567>" + cutMark + "<ec>"}, got); diff != "" {
		t.Error(diff)
	}
}
