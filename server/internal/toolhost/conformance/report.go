package conformance

import (
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// Status is the result of a check.
type Status string

// The results of checks.
const (
	Pass   Status = "pass"   // the examined behavior follows the contract
	Fail   Status = "fail"   // the plugin breaks the contract
	Advice Status = "advice" // the plugin follows the contract and could be better
	// NotApplicable means that the check had nothing to examine, or could not examine it.
	// Check.Reason says why.
	NotApplicable Status = "not_applicable"
)

// Finding is one problem that a check found.
type Finding struct {
	// Tool is the tool with the problem. Empty: the plugin.
	Tool string `json:"tool,omitempty"`
	// Problem says what was observed, and what was expected.
	Problem string `json:"problem"`
}

// Check is one check and its result.
type Check struct {
	// ID names the check: a group and a name, separated by a dot. It has the same meaning in all
	// versions.
	ID string `json:"id"`
	// Title is the statement that a pass confirms.
	Title string `json:"title"`
	// Status is the result.
	Status Status `json:"status"`
	// Reason says why the check is not applicable, or what a passed check has examined. It may be
	// empty.
	Reason string `json:"reason,omitempty"`
	// Contract is the place in the contract. It is empty for advice.
	Contract string `json:"contract,omitempty"`
	// Remedy says how to fix the findings. It is empty if there are none.
	Remedy string `json:"remedy,omitempty"`
	// Findings are the problems. The list is not empty exactly if Status is Fail or Advice.
	Findings []Finding `json:"findings,omitempty"`
}

// Group returns the group of the check.
func (c *Check) Group() string {
	group, _, _ := strings.Cut(c.ID, ".")
	return group
}

// Report is the result of an examination.
type Report struct {
	// Plugin and Version are the plugin's own name and version. Plugin is the caller's name for the
	// plugin if it does not describe itself.
	Plugin  string `json:"plugin"`
	Version string `json:"version,omitempty"`
	// Tools are the names of the plugin's tools, and Called those that were called.
	Tools  []string `json:"tools"`
	Called []string `json:"called"`
	// Checks are all checks, always in the same order.
	Checks []Check `json:"checks"`
	// Sandbox is the sandbox of the plugin during the examination. Nil: the plugin could not be
	// started.
	Sandbox *tool.Sandbox `json:"sandbox,omitempty"`
	// Isolation is the isolation of the plugin's calls: shared, session or call. Empty: unknown.
	Isolation string `json:"isolation,omitempty"`
	// Stderr holds the last lines of standard error of the trial that failed first. It is empty if
	// none failed.
	Stderr []string `json:"stderr,omitempty"`
}

// Count returns the number of checks with a status.
func (r *Report) Count(s Status) int {
	n := 0
	for i := range r.Checks {
		if r.Checks[i].Status == s {
			n++
		}
	}
	return n
}

// Check returns the check with an id, or the zero Check if there is none.
func (r *Report) Check(id string) Check {
	i := slices.IndexFunc(r.Checks, func(c Check) bool { return c.ID == id })
	if i < 0 {
		return Check{}
	}
	return r.Checks[i]
}
