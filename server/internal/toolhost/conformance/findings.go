package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// findings collects the results of checks. It is safe for concurrent use.
type findings struct {
	mu     sync.Mutex
	checks map[string]*finding
}

// finding is the result of a check so far.
type finding struct {
	looked bool
	reason string // what was examined, or why nothing was
	found  []Finding
}

// mostFindings bounds the findings of one check. What fails once often fails many times.
const mostFindings = 5

func newFindings() *findings { return &findings{checks: map[string]*finding{}} }

func (f *findings) of(id string) *finding {
	c := f.checks[id]
	if c == nil {
		c = &finding{}
		f.checks[id] = c
	}
	return c
}

// pass records that a check examined something and found no problem. reason says what it examined,
// and may be empty.
func (f *findings) pass(id, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.of(id)
	if !c.looked || reason != "" {
		c.looked, c.reason = true, reason
	}
}

// skip records why a check could not examine anything. It has no effect if there is another result.
func (f *findings) skip(id, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.of(id); !c.looked && c.reason == "" {
		c.reason = fmt.Sprintf(format, args...)
	}
}

// fail records a finding of a check. The tool may be empty.
func (f *findings) fail(id, tool, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.of(id)
	one := Finding{Tool: tool, Problem: fmt.Sprintf(format, args...)}
	if c.looked = true; len(c.found) < mostFindings && !slices.Contains(c.found, one) {
		c.found = append(c.found, one)
	}
}

// results returns the checks with these definitions. otherwise is the reason for checks without a
// result.
func (f *findings) results(of []definition, otherwise string) []Check {
	f.mu.Lock()
	defer f.mu.Unlock()
	var checks []Check
	for _, d := range of {
		c := f.of(d.id)
		check := Check{ID: d.id, Title: d.title, Contract: d.contract, Status: Pass, Reason: c.reason, Findings: c.found}
		switch {
		case len(c.found) > 0:
			check.Status, check.Remedy, check.Reason = Fail, d.remedy, ""
			if strings.HasPrefix(d.id, "advice.") {
				check.Status = Advice
			}
		case !c.looked:
			check.Status = NotApplicable
			if check.Reason == "" {
				check.Reason = otherwise
			}
		}
		checks = append(checks, check)
	}
	return checks
}
