// Command report reads what the steps of a test run leave in a folder, and prints it for a person.
//
//	report tests FILE.jsonl   the counts of one run of gotestsum; fails if a test of once was flaky, or if tests
//	                          were skipped and CI is true
//	report rates FILE.jsonl   how often each test failed; fails if one did
//	report run FOLDER         the steps of the whole run, then the failed, flaky and skipped tests with their output
//
// scripts/step.sh and scripts/gotest.sh write the folder. A flaky test is one that failed, and
// passed when it ran again alone. A whole run with more flaky tests than maxFlaky fails.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxFlaky is the number of flaky tests that a run may have. More of them hint at a defect that all
// of them share.
const maxFlaky = 2

// once are the packages, with those below them, whose tests must pass the first time. They decide
// what runs and when, so a test of theirs that fails now and then is a race that a user meets.
var once = []string{
	"server/internal/agentd/agent", "server/internal/agentd/loop", "server/internal/agentd/runstore", "server/internal/agentd/snapshot", "server/internal/toolhost/callstore", "server/internal/toolhost/host", "internal/wire/flow",
}

func main() {
	strict, _ := strconv.ParseBool(os.Getenv("CI"))
	if err := run(os.Args[1:], strict, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// run executes one form of the command. strict makes a skipped test an error.
func run(args []string, strict bool, out io.Writer) error {
	switch {
	case len(args) == 2 && args[0] == "tests":
		return tests(args[1], strict, out)
	case len(args) == 2 && args[0] == "rates":
		return rates(args[1], out)
	case len(args) == 2 && args[0] == "run":
		return whole(args[1], out)
	default:
		return fmt.Errorf("usage: report tests FILE.jsonl | report rates FILE.jsonl | report run FOLDER")
	}
}

func tests(file string, strict bool, out io.Writer) error {
	r := newResults()
	if err := r.readFile(file); err != nil {
		return err
	}
	for _, t := range r.with(flaky) {
		fmt.Fprintf(out, "FLAKY %s\n", t.name)
	}
	for _, t := range r.with(skipped) {
		fmt.Fprintf(out, "skipped %s: %s\n", t.name, t.reason())
	}
	fmt.Fprintln(out, r.counts())
	for _, t := range r.with(flaky) {
		if t.once() {
			return fmt.Errorf("%s failed and then passed; in its package each test must pass the first time", t.name)
		}
	}
	if n := len(r.with(skipped)); strict && n > 0 {
		return fmt.Errorf("with CI=true no test may be skipped, and %d were", n)
	}
	return nil
}

func rates(file string, out io.Writer) error {
	r := newResults()
	if err := r.readFile(file); err != nil {
		return err
	}
	n := 0
	for _, key := range r.order {
		if t := r.tests[key]; t.failures > 0 && !t.sub {
			n++
			fmt.Fprintf(out, "%d of %d runs failed: %s\n", t.failures, t.runs, t.name)
		}
	}
	fmt.Fprintln(out, r.counts())
	if n > 0 {
		return fmt.Errorf("%d tests are flaky", n)
	}
	return nil
}

// whole prints the report of a run. It fails if the run has too many flaky tests; failed steps are
// only printed, because the commands of the run have failed with them.
func whole(folder string, out io.Writer) error {
	steps, err := readSteps(folder)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return err
	}
	slices.Sort(files)
	r := newResults()
	for _, file := range files {
		if err := r.readFile(file); err != nil {
			return err
		}
	}
	r.addLogs(steps)
	print(out, steps, r)
	if n := len(r.with(flaky)); n > maxFlaky {
		return fmt.Errorf("%d tests are flaky, and more than %d fail the run", n, maxFlaky)
	}
	return nil
}

// step is one check of a run.
type step struct {
	name, result, seconds string
	log                   []string // the lines that it printed
}

func (s step) failed() bool { return s.result != "ok" }

// readSteps returns the steps in the order in which they ended.
func readSteps(folder string) ([]step, error) {
	data, err := os.ReadFile(filepath.Join(folder, "steps"))
	if err != nil {
		return nil, fmt.Errorf("no step ended: %w", err)
	}
	var steps []step
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 4 {
			return nil, fmt.Errorf("%s/steps: %q has %d fields, not 4", folder, line, len(fields))
		}
		log, err := os.ReadFile(filepath.Join(folder, fields[3]))
		if err != nil {
			return nil, fmt.Errorf("reading what %s printed: %w", fields[0], err)
		}
		steps = append(steps, step{name: fields[0], result: fields[1], seconds: fields[2], log: strings.Split(strings.TrimRight(string(log), "\n"), "\n")})
	}
	return steps, nil
}
