package author

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/server/internal/toolhost/conformance"
)

// verifyView is the report of `verify`, as -o json prints it.
type verifyView struct {
	Path    string        `json:"path"`
	OK      bool          `json:"ok"` // whether the exit code is 0
	Summary verifySummary `json:"summary"`
	*conformance.Report
}

type verifySummary struct {
	Pass          int `json:"pass"`
	Fail          int `json:"fail"`
	Advice        int `json:"advice"`
	NotApplicable int `json:"not_applicable"`
}

func verdictOf(path string, r *conformance.Report, strict bool) verifyView {
	return verifyView{path, acceptable(r, strict), summaryOf(r), r}
}

func summaryOf(r *conformance.Report) verifySummary {
	return verifySummary{
		Pass: r.Count(conformance.Pass), Fail: r.Count(conformance.Fail),
		Advice: r.Count(conformance.Advice), NotApplicable: r.Count(conformance.NotApplicable),
	}
}

// verifyText prints a report for people.
type verifyText struct {
	out     io.Writer
	verbose bool // print passed checks too
	colors  bool
}

func newVerifyText(p cli.Process, verbose bool) *verifyText {
	return &verifyText{out: p.Stdout, verbose: verbose, colors: p.Screen().Color}
}

// The colors of results as parameters of control sequences, and their words.
func (v *verifyText) mark(s conformance.Status) string {
	color, word := "", ""
	switch s {
	case conformance.Pass:
		color, word = "\x1b[32m", "pass  "
	case conformance.Fail:
		color, word = "\x1b[31m", "FAIL  "
	case conformance.Advice:
		color, word = "\x1b[33m", "advice"
	case conformance.NotApplicable:
		color, word = "\x1b[2m", "n/a   "
	}
	if !v.colors {
		return word
	}
	return color + word + "\x1b[0m"
}

func (v *verifyText) write(path string, r *conformance.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s: %s", strings.TrimSpace(cli.OneLine(r.Plugin+" "+r.Version)), path, cli.Count(len(r.Tools), "tool"))
	if len(r.Called) > 0 {
		fmt.Fprintf(&b, ", called: %s", cli.OneLine(strings.Join(r.Called, ", ")))
	}
	if r.Sandbox != nil {
		fmt.Fprintf(&b, "; sandbox: %s", operate.SandboxSummary(r.Sandbox))
	}
	if r.Isolation != "" {
		fmt.Fprintf(&b, "; isolation: %s", cli.OneLine(operate.IsolationWords(r.Isolation)))
	}
	b.WriteString("\n\n")
	for _, group := range groupsOf(r) {
		v.writeGroup(&b, group)
	}
	if len(r.Stderr) > 0 {
		b.WriteString("\nwhat it said last on standard error\n")
		for _, line := range r.Stderr[max(0, len(r.Stderr)-10):] {
			fmt.Fprintf(&b, "  %s\n", cli.OneLine(line))
		}
	}
	s := summaryOf(r)
	fmt.Fprintf(&b, "\n%s: %d passed, %d failed, %d with advice, %d not applicable\n", cli.Count(len(r.Checks), "check"), s.Pass, s.Fail, s.Advice, s.NotApplicable)
	if _, err := io.WriteString(v.out, b.String()); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

// checkGroup is a group of checks whose names have the same first part.
type checkGroup struct {
	name   string
	checks []conformance.Check
}

// groupsOf returns the checks of a report in groups, in the order of the report.
func groupsOf(r *conformance.Report) []checkGroup {
	var groups []checkGroup
	for _, c := range r.Checks {
		if len(groups) == 0 || groups[len(groups)-1].name != c.Group() {
			groups = append(groups, checkGroup{name: c.Group()})
		}
		last := &groups[len(groups)-1]
		last.checks = append(last.checks, c)
	}
	return groups
}

// writeGroup writes a line for the group with the number of checks that it hides, and a line for
// each other check. For a group that verify did not reach, the last line is enough.
func (v *verifyText) writeGroup(b *strings.Builder, g checkGroup) {
	s := summaryOf(&conformance.Report{Checks: g.checks})
	if s.NotApplicable == len(g.checks) && !v.verbose {
		return
	}
	fmt.Fprintf(b, "%s: %d passed", g.name, s.Pass)
	if s.NotApplicable > 0 {
		fmt.Fprintf(b, ", %d not applicable", s.NotApplicable)
	}
	b.WriteString("\n")
	for i := range g.checks {
		v.writeCheck(b, &g.checks[i])
	}
}

func (v *verifyText) writeCheck(b *strings.Builder, c *conformance.Check) {
	if (c.Status == conformance.Pass || c.Status == conformance.NotApplicable) && !v.verbose {
		return
	}
	id := strings.TrimPrefix(c.ID, c.Group()+".")
	fmt.Fprintf(b, "  %s  %-18s %s", v.mark(c.Status), id, c.Title)
	if c.Reason != "" {
		fmt.Fprintf(b, " (%s)", cli.OneLine(c.Reason))
	}
	b.WriteString("\n")
	for _, f := range c.Findings {
		who := ""
		if f.Tool != "" {
			who = f.Tool + ": "
		}
		fmt.Fprintf(b, "            - %s%s\n", cli.OneLine(who), cli.OneLine(f.Problem))
	}
	if c.Contract != "" && c.Remedy != "" {
		fmt.Fprintf(b, "            contract: %s\n", c.Contract)
	}
	if c.Remedy != "" {
		fmt.Fprintf(b, "            to fix it: %s\n", c.Remedy)
	}
}
