package crashoutput_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/text/crashoutput"
)

// TestReason checks that the reason is found wherever the runtime prints it.
func TestReason(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		most  string
		three []string // of Excerpt
		known bool     // of Explained
	}{
		{"nothing", nil, "", nil, false},
		{"no reason", []string{"a", "b", "c", "d"}, "d", []string{"b", "c", "d"}, false},
		{"Go", []string{"a", "panic: boom", "goroutine 1", "x", "y"}, "panic: boom", []string{"panic: boom", "goroutine 1", "x"}, true},
		{"Go, wrapped", []string{"panic: a", "\tpanic: b", "goroutine 1"}, "panic: a", []string{"panic: a", "\tpanic: b", "goroutine 1"}, true},
		{"Go, memory", []string{"runtime: out of memory: 1 GiB", "fatal error: out of memory", "x"}, "runtime: out of memory: 1 GiB",
			[]string{"runtime: out of memory: 1 GiB", "fatal error: out of memory", "x"}, true},
		{"indented", []string{"  fatal error: all goroutines are asleep", "b"}, "  fatal error: all goroutines are asleep",
			[]string{"  fatal error: all goroutines are asleep", "b"}, true},
		{"Python", []string{"Traceback (most recent call last):", `  File "a.py", line 1`, "    boom()", "KeyError: 'a'"}, "KeyError: 'a'",
			[]string{"Traceback (most recent call last):", `  File "a.py", line 1`, "    boom()"}, true},
		{"Python, an error that was only logged before", []string{"Traceback (most recent call last):", "  x", "OSError: retrying", "Traceback (most recent call last):", "  y", "KeyError: 'a'"},
			"KeyError: 'a'", []string{"Traceback (most recent call last):", "  y", "KeyError: 'a'"}, true},
		{"Python, cut", []string{"Traceback (most recent call last):", "  x"}, "Traceback (most recent call last):",
			[]string{"Traceback (most recent call last):", "  x"}, true},
		{"Python, a signal", []string{"a", "Fatal Python error: Segmentation fault", "", "Current thread 0x1:", `  File "a.py", line 1 in f`}, "Fatal Python error: Segmentation fault",
			[]string{"Fatal Python error: Segmentation fault", "", "Current thread 0x1:"}, true},
		{"Node", []string{"node:internal/modules/cjs/loader:1215", "  throw err;", "  ^", "", "Error: Cannot find module 'x'"}, "Error: Cannot find module 'x'",
			[]string{"node:internal/modules/cjs/loader:1215", "  throw err;", "  ^"}, true},
		{"a signal", []string{"SIGSEGV: segmentation violation", "PC=0x0"}, "SIGSEGV: segmentation violation", []string{"SIGSEGV: segmentation violation", "PC=0x0"}, true},
		{"talk of a signal", []string{"SIGTERM received", "bye"}, "bye", []string{"SIGTERM received", "bye"}, false},
	}
	for _, test := range tests {
		if got := crashoutput.Reason(test.lines); got != test.most {
			t.Errorf("%s: the reason is %q, want %q", test.name, got, test.most)
		}
		if diff := cmp.Diff(test.three, crashoutput.Excerpt(test.lines, 3)); diff != "" {
			t.Errorf("%s: three lines (-want +got):\n%s", test.name, diff)
		}
		if got := crashoutput.Explained(test.lines); got != test.known {
			t.Errorf("%s: explained is %t", test.name, got)
		}
	}
}

func TestShortenKeepsTheReason(t *testing.T) {
	stack := strings.Split(strings.TrimSuffix(strings.Repeat("main.main() /src/main.go:1 +0x1\n", 100), "\n"), "\n")
	python := append(append([]string{"Traceback (most recent call last):"}, strings.Split(strings.Repeat("  File a.py\n", 100), "\n")...), "KeyError: 'a'")
	tests := []struct {
		name  string
		lines []string
		limit int
		head  []string // what it begins with
		last  string
	}{
		{"all fit", []string{"a", "b"}, 4, []string{"a", "b"}, "b"},
		{"the last ones, where none says why", stack, 64, []string{stack[0], stack[0]}, stack[0]},
		{"why, and the last ones", append([]string{"before", "panic: boom"}, stack...), 400, []string{"panic: boom", crashoutput.LeftOut(90)}, stack[0]},
		{"what was left out before is counted", append([]string{"panic: boom", crashoutput.LeftOut(1000)}, stack...), 400,
			[]string{"panic: boom", crashoutput.LeftOut(1090)}, stack[0]},
		{"announcement and reason", append(python, stack...), 400, []string{python[0], crashoutput.LeftOut(101), "KeyError: 'a'", crashoutput.LeftOut(92)}, stack[0]},
		{"a long reason is clipped", append([]string{"panic: " + strings.Repeat("ü", 1000)}, stack...), 400,
			[]string{"panic: " + strings.Repeat("ü", 37) + "…" + strings.Repeat("ü", 41)}, stack[0]},
		{"one huge line", []string{"before", strings.Repeat("y", 1000) + "z"}, 100, []string{strings.Repeat("y", 48) + "…" + strings.Repeat("y", 47) + "z"},
			strings.Repeat("y", 48) + "…" + strings.Repeat("y", 47) + "z"},
		{"a huge line before the last", []string{strings.Repeat("y", 10000) + "z", "bye"}, 204, []string{strings.Repeat("y", 98) + "…" + strings.Repeat("y", 97) + "z"}, "bye"},
		{"no room", []string{"a", "panic: b"}, 0, nil, ""},
	}
	for _, test := range tests {
		before := strings.Join(test.lines, "\n")
		lines := crashoutput.Shorten(test.lines, test.limit)
		if size := len(strings.Join(lines, "\n")) + 1; size > max(test.limit, 1) {
			t.Errorf("%s: %d bytes are left", test.name, size)
		}
		if diff := cmp.Diff(test.head, lines[:min(len(test.head), len(lines))]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if len(lines) > 0 && lines[len(lines)-1] != test.last {
			t.Errorf("%s: the last line is %q", test.name, lines[len(lines)-1])
		}
		full, short := crashoutput.Reason(test.lines), crashoutput.Reason(lines)
		begin, end, _ := strings.Cut(short, "…")
		if crashoutput.Explained(test.lines) && len(lines) > 0 && (!strings.HasPrefix(full, begin) || !strings.HasSuffix(full, end)) {
			t.Errorf("%s: the reason was %q and is %q", test.name, full, short)
		}
		if strings.Join(test.lines, "\n") != before {
			t.Errorf("%s: the lines themselves were changed", test.name)
		}
	}
}
