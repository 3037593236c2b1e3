package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// verdict is the result of a test after all of its runs.
type verdict int

const (
	unfinished verdict = iota // its process ended before it
	passed
	failed
	skipped
	flaky // failed, and passed when it ran again
)

// test is a test of a Go package, or of another language if addLogs found it.
type test struct {
	name    string
	verdict verdict
	sub     bool   // a subtest, whose result is part of that of its parent
	output  string // of its last run that did not pass

	runs, failures int
}

// once reports whether the test is in one of the packages of once.
func (t test) once() bool {
	return slices.ContainsFunc(once, func(folder string) bool {
		_, rest, found := strings.Cut(t.name, "/"+folder)
		return found && (rest[0] == '/' || rest[0] == '.')
	})
}

// reason returns the output of a skipped test on one line.
func (t test) reason() string {
	var said []string
	for line := range strings.Lines(t.output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- SKIP") {
			said = append(said, line)
		}
	}
	if len(said) == 0 {
		return "it does not say why"
	}
	return strings.Join(said, " ")
}

// results has the tests of one or more runs of `go test -json`.
type results struct {
	tests map[string]*test
	order []string
	kept  map[string]*bytes.Buffer // output of running tests
}

func newResults() *results {
	return &results{tests: map[string]*test{}, kept: map[string]*bytes.Buffer{}}
}

// event is one line of `go test -json`; see `go doc test2json`.
type event struct{ Action, Package, Test, Output string }

// readFile adds the events of a file. The same test in two files counts twice, because the files
// have different modes of compilation.
func (r *results) readFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the results of tests: %w", err)
	}
	defer file.Close()
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil && e.Test != "" {
			r.add(path, e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the results of tests: %w", err)
		}
	}
}

func (r *results) add(file string, e event) {
	key := file + "\x00" + e.Package + "." + e.Test
	t := r.tests[key]
	if t == nil {
		t = &test{name: e.Package + "." + e.Test, sub: strings.Contains(e.Test, "/")}
		r.tests[key], r.order = t, append(r.order, key)
	}
	switch e.Action {
	case "run":
		r.kept[key] = &bytes.Buffer{}
		t.runs++
	case "output":
		if r.kept[key] == nil {
			r.kept[key] = &bytes.Buffer{}
		}
		r.kept[key].WriteString(e.Output)
	case "pass", "fail", "skip":
		r.end(key, t, e.Action)
	}
}

func (r *results) end(key string, t *test, action string) {
	output := r.kept[key]
	delete(r.kept, key)
	if action != "pass" && output != nil {
		t.output = output.String()
	}
	switch action {
	case "fail":
		t.verdict = failed
		t.failures++
	case "skip":
		t.verdict = skipped
	case "pass":
		if t.verdict == failed || t.verdict == flaky {
			t.verdict = flaky
		} else {
			t.verdict = passed
		}
	}
}

// addLogs adds the flaky tests that the scripts of the other languages print.
func (r *results) addLogs(steps []step) {
	for _, s := range steps {
		for i, line := range s.log {
			name, found := strings.CutPrefix(strings.TrimSpace(line), "FLAKY ")
			if !found || r.has(name) {
				continue
			}
			// The script prints the output of the failure above the line.
			output := strings.Join(s.log[max(0, i-30):i], "\n")
			r.tests[name], r.order = &test{name: name, verdict: flaky, output: output}, append(r.order, name)
		}
	}
}

func (r *results) has(name string) bool {
	for _, t := range r.tests {
		if t.name == name {
			return true
		}
	}
	return false
}

// with returns the tests with a verdict, without the subtests, whose output is in that of their
// parent's failure or beside it. The output of a parent includes that of its subtests with the
// verdict.
func (r *results) with(v verdict) []test {
	var found []test
	for _, key := range r.order {
		t := *r.tests[key]
		if output := r.kept[key]; t.verdict == unfinished && output != nil {
			t.output = output.String()
		}
		if t.verdict != v || (t.sub && v != skipped) {
			continue
		}
		for _, other := range r.order {
			if strings.HasPrefix(other, key+"/") && r.tests[other].verdict == v {
				t.output += r.tests[other].output
			}
		}
		found = append(found, t)
	}
	return found
}

// counts returns the line that ends a run. A flaky test has passed.
func (r *results) counts() string {
	var n [flaky + 1]int
	for t := range slices.Values(r.order) {
		n[r.tests[t].verdict]++
	}
	return fmt.Sprintf("%d passed, %d failed, %d skipped", n[passed]+n[flaky], n[failed]+n[unfinished], n[skipped])
}
