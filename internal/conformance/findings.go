package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// findings gathers what is found. It is safe for concurrent use.
type findings struct {
	mu     sync.Mutex
	checks map[string]*finding
}

// finding is what is known of a check.
type finding struct {
	looked bool
	reason string // what was looked at, or why nothing was
	found  []Finding
}

// mostFindings bounds what is told of one check: what breaks once breaks often.
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

// pass notes that a check looked and, so far, found nothing. What it looked at may be empty.
func (f *findings) pass(id, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.of(id)
	if !c.looked || reason != "" {
		c.looked, c.reason = true, reason
	}
}

// skip says why a check could not look. It counts only if nothing else is said of the check.
func (f *findings) skip(id, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.of(id); !c.looked && c.reason == "" {
		c.reason = fmt.Sprintf(format, args...)
	}
}

// fail notes what a check found. The tool may be empty.
func (f *findings) fail(id, tool, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.of(id)
	one := Finding{Tool: tool, Problem: fmt.Sprintf(format, args...)}
	if c.looked = true; len(c.found) < mostFindings && !slices.Contains(c.found, one) {
		c.found = append(c.found, one)
	}
}

// report returns all checks. otherwise says why nothing is known of those of which nothing is.
func (f *findings) report(otherwise string) []Check {
	f.mu.Lock()
	defer f.mu.Unlock()
	var checks []Check
	for _, d := range definitions() {
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
