package boundary_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
)

// compare checks that a run in which only agentd was killed has the same end, executed calls and
// model requests as the undisturbed run.
func compare(t *testing.T, whole, s story) {
	t.Helper()
	if diff := cmp.Diff(whole.end, s.end, protocmp.Transform()); diff != "" {
		t.Errorf("the run ends otherwise:\n%s", diff)
	}
	if diff := cmp.Diff(begun(whole, whole.executed), begun(whole, s.executed)); diff != "" {
		t.Errorf("other calls were executed:\n%s", diff)
	}
	if diff := cmp.Diff(whole.asked, s.asked); diff != "" {
		t.Errorf("the model was sent other words:\n%s", diff)
	}
}

// begun returns how often each call was executed, in any attempt, without those that the
// undisturbed run may execute but need not. Whether an approval needs a second attempt depends on
// whether the agent could ask for it together with others. On a busy machine, a call that is meant
// to time out may do so before its tool has begun.
func begun(whole story, executed map[string]int) map[string]int {
	left := make(map[string]int)
	for id, n := range executed {
		if n != 1 || !mayNotBegin(whole.results[id].GetTool()) {
			call, _, _ := strings.Cut(id, ".a")
			left[call] += n
		}
	}
	return left
}

// compareLoosely compares a run in which toolhost was killed with the undisturbed run. It checks
// that a call with side effects was executed at most once, that only such calls have an unknown
// outcome, and that everything else is the same. It returns the number of unknown outcomes.
func compareLoosely(t *testing.T, whole, s story, askOutcome bool) int {
	t.Helper()
	if s.end.GetStopReason() != whole.end.GetStopReason() || s.end.GetText() != whole.end.GetText() || s.end.GetTurns() != whole.end.GetTurns() {
		t.Errorf("the run ended with %v, want %v", s.end, whole.end)
	}
	lost := make(map[string]bool)
	for id, want := range whole.results {
		got := s.results[id]
		switch {
		case got == nil:
			t.Errorf("call %s has no result", id)
		case isLost(got, askOutcome):
			lost[id] = true
			if mayHappenTwice(want.GetTool()) {
				t.Errorf("call %s of %s, which is safe, ended with %v", id, want.GetTool(), got)
			}
		case textOf(got.GetResult()) != textOf(want.GetResult()):
			t.Errorf("call %s answers %q, want %q", id, textOf(got.GetResult()), textOf(want.GetResult()))
		}
	}
	if len(s.results) != len(whole.results) {
		t.Errorf("the run has %d results, want %d", len(s.results), len(whole.results))
	}
	perhaps := maps.Clone(lost)
	for id, got := range s.results {
		// On a busy machine a call that is meant to time out may do so before its plugin has
		// started again.
		if strings.Contains(textOf(got.GetResult()), "nothing was executed") {
			perhaps[id] = true
		}
	}
	checkExecuted(t, whole, s, perhaps)
	checkAsked(t, whole, s, lost)
	t.Logf("%d outcomes are not known", len(lost))
	return len(lost)
}

// isLost reports whether the result says that the outcome of the call is unknown. With askOutcome,
// the person's answer is the result.
func isLost(r *agentdv1.CallResult, askOutcome bool) bool {
	text := textOf(r.GetResult())
	if askOutcome {
		return strings.Contains(text, outcomeAnswer)
	}
	return r.GetError().GetKind() == toolv1.ErrorKind_ERROR_KIND_OUTCOME_UNKNOWN && strings.Contains(text, "outcome_unknown")
}

func checkExecuted(t *testing.T, whole, s story, lost map[string]bool) {
	t.Helper()
	once := func(counts map[string]int) map[string]int {
		calls := make(map[string]int)
		for sent, n := range counts {
			id, _, _ := strings.Cut(sent, ".a") // the id without the number of the attempt
			calls[id] += n
		}
		for id, n := range calls {
			switch {
			case mayHappenTwice(whole.results[id].GetTool()):
				calls[id] = 1
			// Such a call may also have been executed zero times.
			case n == 1 && (lost[id] || mayNotBegin(whole.results[id].GetTool())):
				delete(calls, id)
			}
		}
		return calls
	}
	if diff := cmp.Diff(once(whole.executed), once(s.executed)); diff != "" {
		t.Errorf("other calls were executed, or more often:\n%s", diff)
	}
}

// checkAsked compares the model requests. It ignores the content of lost results.
func checkAsked(t *testing.T, whole, s story, lost map[string]bool) {
	t.Helper()
	for turn, want := range whole.asked {
		theirs, err := messagesOf(want)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := messagesOf(s.asked[turn])
		if err != nil || len(ours) != len(theirs) {
			t.Errorf("turn %d: the model was sent %d messages, want %d: %v", turn, len(ours), len(theirs), err)
			continue
		}
		for i := range theirs {
			if callID, ok := strings.CutPrefix(theirs[i].ToolCallID, "call_"); ok {
				at, index, _ := strings.Cut(callID, "_")
				if lost["r.t"+at+".c"+index] {
					ours[i].Content = theirs[i].Content
				}
			}
		}
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("turn %d: the model was sent other words:\n%s", turn, diff)
		}
	}
}

// untimed returns a text without the message of a timeout. toolhost and the plugin both notice that
// a call has timed out, and the call ends with the message of the one that is first.
func untimed(text string) string {
	return regexp.MustCompile(`\[timeout\] .*?It may help`).ReplaceAllString(text, "[timeout] It may help")
}

func textOf(r *toolv1.Result) string {
	var text strings.Builder
	for _, c := range r.GetContent() {
		text.WriteString(c.GetText())
	}
	return untimed(text.String())
}
