package main

import (
	"fmt"
	"io"
	"strings"
)

// room is the number of lines that the outputs of all failures share, so that the end of a log
// names each failure.
const room = 70

// section is a failure with its output.
type section struct {
	title string
	lines []string
}

// print writes the table of the steps, and below it what failed.
func print(out io.Writer, steps []step, r *results) {
	width := len("step")
	for _, s := range steps {
		width = max(width, len(s.name))
	}
	fmt.Fprintf(out, "\n%-*s  %-7s %s\n", width, "step", "result", "seconds")
	for _, s := range steps {
		fmt.Fprintf(out, "%-*s  %-7s %s\n", width, s.name, s.result, s.seconds)
	}
	sections := failures(steps, r)
	for _, s := range sections {
		fmt.Fprintf(out, "\n%s\n", s.title)
		for _, line := range last(s.lines, max(3, room/len(sections)-2)) {
			fmt.Fprintf(out, "    %s\n", line)
		}
	}
	fmt.Fprintf(out, "\n%s\n", r.counts())
}

// failures returns the failed, unfinished, flaky and skipped tests, after the steps that failed for
// another reason than their tests.
func failures(steps []step, r *results) []section {
	var tests []section
	for _, kind := range []struct {
		verdict verdict
		title   string
	}{{failed, "FAILED"}, {unfinished, "UNFINISHED"}, {flaky, "FLAKY"}, {skipped, "SKIPPED"}} {
		for _, t := range r.with(kind.verdict) {
			tests = append(tests, section{kind.title + " " + t.name, lines(t.output)})
		}
	}
	var all []section
	for _, s := range steps {
		if s.failed() {
			all = append(all, section{"FAILED step " + s.name, s.log})
		}
	}
	return append(all, tests...)
}

// lines splits the output of a test and leaves out what says only that the test ran.
func lines(output string) []string {
	var kept []string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if line != "" && !strings.HasPrefix(line, "=== ") {
			kept = append(kept, line)
		}
	}
	return kept
}

// last returns the last n lines, with the first one saying how many are left out.
func last(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	cut := len(lines) - n + 1
	return append([]string{fmt.Sprintf("(%d lines left out)", cut)}, lines[cut:]...)
}
