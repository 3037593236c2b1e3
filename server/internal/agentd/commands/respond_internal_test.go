package commands

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
)

// A decision is found by what names exactly one open decision. An approval names the decision:
// after another person has edited the call, its id stands for arguments that the approver has not
// seen.
func TestNamesOfDecisions(t *testing.T) {
	pending := []client.PendingDecision{
		{ID: "d2", CallID: "r.t1.c0"},
		{ID: "d3", CallID: "r.t1.c1"},
		{ID: "below/d1", CallID: "below.t1.c1"},
		{ID: "d4"},
	}
	for name, test := range map[string]struct{ flag, call, want, problem string }{
		"approve a decision":         {"approve", "d2", "d2", ""},
		"approve one of a sub-run":   {"approve", "below/d1", "below/d1", ""},
		"approve without a call":     {"approve", "d4", "d4", ""},
		"approve a former decision":  {"approve", "d1", "", `not wait for a decision on "d1"`},
		"approve a call":             {"approve", "r.t1.c0", "", "name the decision that you have seen"},
		"approve the end of a call":  {"approve", "t1.c0", "", "name the decision that you have seen"},
		"reject a call":              {"reject", "r.t1.c1", "d3", ""},
		"reject the end of a call":   {"reject", "t1.c0", "d2", ""},
		"edit the end of a call":     {"edit", "c0", "d2", ""},
		"an end of two calls":        {"reject", "t1.c1", "", `"t1.c1" names several calls`},
		"the end of a longer number": {"reject", "1.c0", "", "does not wait"},
		"nothing":                    {"reject", "", "", "does not wait"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := (&verdictFlag{flag: test.flag, call: test.call}).wanted(pending)
			id := ""
			if got != nil {
				id = got.ID
			}
			if err != nil && (test.problem == "" || !strings.Contains(err.Error(), test.problem)) || id != test.want {
				t.Errorf("decision %q, error %v; want %q, %q", id, err, test.want, test.problem)
			}
		})
	}
}
