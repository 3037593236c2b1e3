package author

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/conformance"
)

// The report counts passed checks, shows the other checks, and leaves out groups without a check.
func TestReportOfAnExamination(t *testing.T) {
	report := &conformance.Report{
		Plugin: "weather", Version: "1", Tools: []string{"forecast"}, Called: []string{"forecast"},
		Checks: []conformance.Check{
			{ID: "start.one", Title: "starts", Status: conformance.Pass},
			{
				ID: "start.two", Title: "goes on", Status: conformance.Fail, Contract: "somewhere", Remedy: "do it",
				Findings: []conformance.Finding{{Tool: "forecast", Problem: "it does not"}},
			},
			{ID: "calls.one", Title: "answers", Status: conformance.NotApplicable, Reason: "it did not come so far"},
			{ID: "end.one", Title: "exits", Status: conformance.Pass},
			{ID: "end.two", Title: "exits at once", Status: conformance.NotApplicable, Reason: "nobody asked"},
		},
		Stderr: []string{"ouch"},
	}
	for name, tc := range map[string]struct {
		verbose bool
		want    string
	}{
		"usually": {false, `weather 1 at /p: 1 tool, called: forecast

start: 1 passed
  FAIL    two                goes on
            - forecast: it does not
            contract: somewhere
            to fix it: do it
end: 1 passed, 1 not applicable

what it said last on standard error
  ouch

5 checks: 2 passed, 1 failed, 0 with advice, 2 not applicable
`},
		"in full": {true, `weather 1 at /p: 1 tool, called: forecast

start: 1 passed
  pass    one                starts
  FAIL    two                goes on
            - forecast: it does not
            contract: somewhere
            to fix it: do it
calls: 0 passed, 1 not applicable
  n/a     one                answers (it did not come so far)
end: 1 passed, 1 not applicable
  pass    one                exits
  n/a     two                exits at once (nobody asked)

what it said last on standard error
  ouch

5 checks: 2 passed, 1 failed, 0 with advice, 2 not applicable
`},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			if err := (&verifyText{out: &got, verbose: tc.verbose}).write("/p", report); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestVerifyShowsTheIsolation(t *testing.T) {
	var out strings.Builder
	if err := (&verifyText{out: &out}).write("/p", &conformance.Report{Plugin: "p", Isolation: "session"}); err != nil || !strings.Contains(out.String(), "; isolation: session: calls of one session share a process") {
		t.Errorf("verify says\n%s\n%v", &out, err)
	}
}
