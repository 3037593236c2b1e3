package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// report prints events for a person. It keeps the output of a test until the test ends, because
// only the output of failed tests is printed.
type report struct {
	out     io.Writer
	tests   map[name]*strings.Builder // of unfinished tests and packages; the Test of a package is empty
	running map[name]time.Time        // when each unfinished test began
	passed  int
	failed  []name
	skipped []name
}

// name identifies a test, or a package if Test is empty.
type name struct{ Package, Test string }

func (n name) String() string {
	if n.Test == "" {
		return n.Package
	}
	return n.Package + "." + n.Test
}

func newReport(out io.Writer) *report {
	return &report{out: out, tests: map[name]*strings.Builder{}, running: map[name]time.Time{}}
}

// add processes an event. It reports whether it printed something.
func (r *report) add(e event) bool {
	n := name{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		return r.print(e.Output)
	case "output":
		return r.output(n, e.Output)
	case "run":
		r.running[n] = e.Time
	case "pass", "fail", "skip":
		delete(r.running, n)
		return r.end(n, e.Action)
	}
	return false
}

// output prints the line of a package that passed, and keeps any other output until the test ends.
func (r *report) output(n name, text string) bool {
	if n.Package == "" {
		return r.print(text)
	}
	if n.Test == "" && (strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "?   \t")) {
		return r.print(text)
	}
	kept := r.tests[n]
	if kept == nil {
		kept = &strings.Builder{}
		r.tests[n] = kept
	}
	kept.WriteString(text)
	return false
}

func (r *report) end(n name, action string) bool {
	kept := r.tests[n]
	delete(r.tests, n)
	switch action {
	case "fail":
		r.failed = append(r.failed, n)
		if kept != nil {
			return r.print(kept.String())
		}
	case "skip":
		// `go test` also reports a package without tests as skipped.
		if n.Test != "" {
			r.skipped = append(r.skipped, n)
			return r.print(fmt.Sprintf("skipped %s: %s\n", n, reason(kept)))
		}
	case "pass":
		if n.Test != "" {
			r.passed++
		}
	}
	return false
}

// reason returns the output of a skipped test on one line.
func reason(kept *strings.Builder) string {
	if kept == nil {
		return "it does not say why"
	}
	var said []string
	for line := range strings.Lines(kept.String()) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- SKIP") {
			continue
		}
		said = append(said, line)
	}
	return strings.Join(said, " ")
}

// alive prints the test that has run longest.
func (r *report) alive(now time.Time) {
	if len(r.running) == 0 {
		r.print("... compiling\n")
		return
	}
	longest := slices.MinFunc(slices.Collect(maps.Keys(r.running)), func(a, b name) int {
		return cmp.Or(r.running[a].Compare(r.running[b]), strings.Compare(b.String(), a.String()))
	})
	r.print(fmt.Sprintf("... running %s for %s\n", longest, now.Sub(r.running[longest]).Round(time.Second)))
}

// finish prints the output of tests that never ended, because their process died, and the counts.
func (r *report) finish() {
	for _, n := range slices.SortedFunc(maps.Keys(r.tests), func(a, b name) int { return strings.Compare(a.String(), b.String()) }) {
		if _, hung := r.running[n]; hung {
			r.print(r.tests[n].String())
		}
	}
	var failed int
	for _, n := range r.failed {
		if n.Test != "" {
			failed++
		}
	}
	r.print(fmt.Sprintf("%d passed, %d failed, %d skipped\n", r.passed, failed, len(r.skipped)))
}

// verdict returns why the run failed although go test succeeded, or nil.
func (r *report) verdict(strict bool) error {
	if !strict || len(r.skipped) == 0 {
		return nil
	}
	names := make([]string, len(r.skipped))
	for i, n := range r.skipped {
		names[i] = n.String()
	}
	return fmt.Errorf("with CI=true no test may be skipped, and these were: %s", strings.Join(names, ", "))
}

func (r *report) print(text string) bool {
	fmt.Fprint(r.out, text)
	return true
}
