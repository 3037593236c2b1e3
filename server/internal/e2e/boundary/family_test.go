package boundary_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// delegated is the prompt of the sub-runs.
const delegated = "count for me"

// familyStory is the script of a run that starts two sub-runs at the same time. One of the sub-runs
// asks a person.
func familyStory(prompt string, found map[string]string) (list [][]ask, last string, base int) {
	write := func(turn, base int, keys ...string) (asks []ask) {
		for i, key := range keys {
			asks = append(asks, ask{fmt.Sprintf("call_%d_%d", base+turn, i), "counterplugin_write", fmt.Sprintf(`{"key":%q}`, key)})
		}
		return asks
	}
	switch prompt {
	case delegated + " quickly":
		base = 200
		list = [][]ask{write(1, base, "q1", "q2"), nil}
		last = "quickly: " + found["call_201_1"]
	case delegated:
		base = 100
		list = [][]ask{
			write(1, base, "s1"), {{"call_102_0", "ask_user", `{"question":"Where to?"}`}, {"call_102_1", "counterplugin_slow", `{"key":"s2"}`}},
			write(3, base, found["call_102_0"]), nil,
		}
		last = "slowly: " + found["call_103_0"]
	default:
		list = [][]ask{
			write(1, 0, "p1"),
			join([]ask{{"call_2_1", "new_task", `{"task":"` + delegated + `"}`}, {"call_2_2", "new_task", `{"task":"` + delegated + ` quickly"}`}}, write(2, 0, "p2")),
			write(3, 0, found["call_2_1"], found["call_2_2"]), nil,
		}
		last = "done: " + found["call_3_0"] + ", " + found["call_3_1"]
	}
	return list, last, base
}

// family is everything that the tests compare of a run and its sub-runs.
type family struct {
	story
	children map[string]*agentdv1.RunFinished // by the id of the call that started the sub-run
}

// The test kills agentd while a run waits for two sub-runs, one of which waits for a person. It
// kills before and after appends to whichever journal reaches the place first. All runs end as if
// nothing had happened. The person answers only at the top run.
func TestSubRunsAtBoundaries(t *testing.T) {
	w := newWorld(t)
	whole := disturbedFamily(t, w, place{}, "family-whole")
	if whole.end.GetStopReason() != agentdv1.StopReason_STOP_REASON_END_TURN || len(whole.children) != 2 {
		t.Fatalf("the undisturbed run ended with %v and %d sub-runs", whole.end, len(whole.children))
	}
	crew := newCrew(whole.story)
	for _, at := range []place{
		{1, "after"}, {3, "before"}, {5, "after"}, {6, "before"}, {7, "before"}, {8, "after"}, {9, "after"}, {10, "before"},
		{11, "after"}, {12, "before"}, {13, "after"}, {14, "after"},
	} {
		crew.run(t, at.String(), func(t *testing.T) {
			s := disturbedFamily(t, w, at, "family-"+at.String())
			compare(t, whole.story, s.story)
			if diff := cmp.Diff(whole.children, s.children, protocmp.Transform()); diff != "" {
				t.Errorf("the sub-runs end otherwise:\n%s", diff)
			}
		})
	}
	crew.group.Wait()
}

// disturbedFamily returns the story of a family. It kills agentd at the place, unless that is the
// zero place.
func disturbedFamily(t *testing.T, w *world, at place, session string) family {
	t.Helper()
	b := newBrain(t)
	b.says = familyStory
	d := newAgentd(t, w, b, folder(t, w), at)
	first := d.life
	ended := make(chan error, 1)
	if at != (place{}) {
		// The goroutine ends when strike returns. strike also returns if agentd exits. The test
		// waits for it below.
		go func() { ended <- d.strike(victims{agentd: true}) }()
	} else {
		ended <- nil
	}
	p := newPerson(t, d.addr, session, false)
	p.system = []string{"new_task", "ask_user"}
	s, err := live(t, w, b, p)
	if err != nil {
		first.kill()
	}
	if err := errors.Join(err, <-ended); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	children := make(map[string]*agentdv1.RunFinished)
	for _, e := range p.events {
		sub := e.GetSubRunStarted()
		if sub == nil {
			continue
		}
		for e, err := range p.client.WatchRun(ctx, sub.GetRunId(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if end := e.GetRunFinished(); end != nil {
				children[sub.GetCallId()] = end
			}
		}
	}
	return family{s, children}
}
