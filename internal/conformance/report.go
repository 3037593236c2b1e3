package conformance

import (
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// Status is what came of a check.
type Status string

// What comes of checks.
const (
	Pass          Status = "pass"           // what the check looks for holds
	Fail          Status = "fail"           // the plugin breaks the contract
	Advice        Status = "advice"         // the contract is kept, and the plugin could be better
	NotApplicable Status = "not_applicable" // there was nothing to look at, or no way to; Reason says which
)

// Finding is one thing that a check found.
type Finding struct {
	// Tool is the tool that it concerns. Empty: the plugin.
	Tool string `json:"tool,omitempty"`
	// Problem says what was seen, and what was expected.
	Problem string `json:"problem"`
}

// Check is one check, with what came of it.
type Check struct {
	// ID names the check: a group and a name, with a dot between. It means the same in all versions.
	ID string `json:"id"`
	// Title says what holds if the check passes.
	Title string `json:"title"`
	// Status is what came of it.
	Status Status `json:"status"`
	// Reason says why the check is not applicable, or what a check that passed has looked at. It may be empty.
	Reason string `json:"reason,omitempty"`
	// Contract says where the contract says it. It is empty for advice.
	Contract string `json:"contract,omitempty"`
	// Remedy says how to mend what was found. It is empty where nothing was.
	Remedy string `json:"remedy,omitempty"`
	// Findings are what was found; there are some exactly if the status is Fail or Advice.
	Findings []Finding `json:"findings,omitempty"`
}

// Group returns the group that a check belongs to.
func (c *Check) Group() string {
	group, _, _ := strings.Cut(c.ID, ".")
	return group
}

// Report is what an examination found.
type Report struct {
	// Plugin and Version are what the plugin says of itself; Plugin is the name that the caller gave if it says nothing.
	Plugin  string `json:"plugin"`
	Version string `json:"version,omitempty"`
	// Tools are the names of its tools, Called those that were executed.
	Tools  []string `json:"tools"`
	Called []string `json:"called"`
	// Checks are all checks, always the same ones in the same order.
	Checks []Check `json:"checks"`
	// Sandbox is what the plugin might touch meanwhile, and behind which layers. Nil: it could not be started.
	Sandbox *tool.Sandbox `json:"sandbox,omitempty"`
	// Isolation is what the plugin's calls share: shared, session or call. Empty: not known.
	Isolation string `json:"isolation,omitempty"`
	// Stderr is what the plugin printed last on standard error in the trial that failed first. Empty if nothing failed.
	Stderr []string `json:"stderr,omitempty"`
}

// Count returns how many checks ended so.
func (r *Report) Count(s Status) int {
	n := 0
	for i := range r.Checks {
		if r.Checks[i].Status == s {
			n++
		}
	}
	return n
}

// Check returns the check of an id; the zero Check if there is none.
func (r *Report) Check(id string) Check {
	i := slices.IndexFunc(r.Checks, func(c Check) bool { return c.ID == id })
	if i < 0 {
		return Check{}
	}
	return r.Checks[i]
}
