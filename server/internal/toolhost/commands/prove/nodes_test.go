package prove

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// A seed determines the plan, and each fault happens once before one happens again.
func TestPlanFaults(t *testing.T) {
	plan := planFaults(2*len(faults), 3, 5)
	if !slices.Equal(plan, planFaults(2*len(faults), 3, 5)) || slices.Equal(plan, planFaults(2*len(faults), 3, 6)) {
		t.Error("the plan does not depend on the seed alone")
	}
	for _, part := range [][]strike{plan[:len(faults)], plan[len(faults):]} {
		counted := map[fault]int{}
		for _, s := range part {
			counted[s.fault]++
			if s.victim < 0 || s.victim > 2 || s.after < 0.2 || s.after > 0.8 || s.down < 0 || s.down > mostDown {
				t.Errorf("the plan has %+v", s)
			}
		}
		if !slices.Equal(slices.Sorted(maps.Keys(counted)), slices.Sorted(slices.Values(faults))) {
			t.Errorf("the plan has %v", counted)
		}
	}
}

// A call halts at the toolhost that is paused, whichever toolhosts the calls were drawn for. It
// begins before the pause, and its second toolhost gets it when it has halted.
func TestHaltOne(t *testing.T) {
	for _, drawn := range [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {0, 2}} {
		var calls []*sent
		for i := range callsOfRound {
			s := newSent("s", i)
			s.first, s.second = drawn[0], drawn[1]
			calls = append(calls, s)
		}
		haltOne(calls, &strike{fault: paused, victim: 0, after: 0.2})
		halting := slices.IndexFunc(calls, func(s *sent) bool { return s.halts })
		if halting < 0 || halting >= callsOfRound/5 {
			t.Errorf("drawn for %v: call %d halts", drawn, halting)
			continue
		}
		if s := calls[halting]; s.of() != sealed || s.first != 0 || s.second == 0 || !strings.Contains(string(s.call.Arguments), string(during)) {
			t.Errorf("drawn for %v: %s of %s halts at %d, and %d gets it, too", drawn, s.call.Arguments, s.of(), s.first, s.second)
		}
	}
}

// Only unknown may become another answer. An unknown of a request that was sent before may come
// late.
func TestAnAnswerDoesNotChange(t *testing.T) {
	receipt := func(text string) tool.Result {
		return tool.Result{Content: []tool.Content{{Kind: tool.ContentText, Text: text}}}
	}
	unknown := tool.Errorf(tool.KindOutcomeUnknown, "lost")
	type heard struct {
		result  tool.Result
		failure *tool.Error
		late    bool // it was sent before any answer
	}
	for name, c := range map[string]struct {
		heard   []heard
		want    answer
		changed bool
	}{
		"the same":             {heard: []heard{{result: receipt("a")}, {result: receipt("a")}}, want: answer{receipt: "a"}},
		"another":              {heard: []heard{{result: receipt("a")}, {result: receipt("b")}}, want: answer{receipt: "a"}, changed: true},
		"unknown, then known":  {heard: []heard{{failure: unknown}, {result: receipt("a")}}, want: answer{receipt: "a"}},
		"known, then unknown":  {heard: []heard{{result: receipt("a")}, {failure: unknown}}, want: answer{receipt: "a"}, changed: true},
		"an unknown of before": {heard: []heard{{result: receipt("a")}, {failure: unknown, late: true}}, want: answer{receipt: "a"}},
		"two at a time":        {heard: []heard{{result: receipt("a")}, {result: receipt("b"), late: true}}, want: answer{receipt: "a"}, changed: true},
		"the same, at a time":  {heard: []heard{{result: receipt("a")}, {result: receipt("a"), late: true}}, want: answer{receipt: "a"}},
		"failed, then known":   {heard: []heard{{failure: tool.Errorf(tool.KindTimeout, "late")}, {result: receipt("a")}}, want: answer{failure: tool.KindTimeout, message: "late"}, changed: true},
		"no answer": {heard: []heard{
			{result: receipt("a")}, {failure: tool.Errorf(tool.KindUnavailable, "down")}, {failure: tool.Errorf(tool.KindOutcomeUnknown, "cut off: %w", client.ErrNoServer)},
			{failure: tool.Errorf(tool.KindOutcomeUnknown, "late, and the call is under way at the toolhost x: it may go on")},
		}, want: answer{receipt: "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			var s sent
			for _, h := range c.heard {
				before := s.last()
				if h.late {
					before = nil
				}
				s.hear(before, h.result, h.failure)
			}
			if *s.last() != c.want || (s.changed != nil) != c.changed {
				t.Errorf("the answer is %v, and later %v", s.last(), s.changed)
			}
		})
	}
}

// What counts of a loss is when the last call began that failed, and a call that was under way has
// begun before.
func TestLoss(t *testing.T) {
	var l loss
	for _, c := range []struct {
		began  time.Duration
		failed bool
	}{{-time.Second, true}, {2 * time.Second, true}, {time.Second, true}, {3 * time.Second, false}} {
		l.add(c.began, c.failed)
	}
	if want := (loss{Calls: 4, Failed: 3, Seconds: 2}); l != want {
		t.Errorf("the loss is %+v, want %+v", l, want)
	}
}

// The flags of one toolhost and of several do not mix.
func TestFlagsOfNodes(t *testing.T) {
	usual := options{nodes: 3, calls: 1}
	for name, c := range map[string]struct {
		of    options
		given []string
		right bool
	}{
		"none":             {usual, nil, true},
		"nodes":            {usual, []string{"nodes"}, true},
		"calls":            {usual, []string{"nodes", "calls"}, true},
		"a time":           {usual, []string{"nodes", "for"}, true},
		"both":             {usual, []string{"nodes", "calls", "for"}, false},
		"calls alone":      {usual, []string{"calls"}, false},
		"a time alone":     {usual, []string{"for"}, false},
		"kills":            {usual, []string{"nodes", "kills"}, false},
		"one node":         {options{nodes: 1, calls: 1}, []string{"nodes"}, false},
		"too many nodes":   {options{nodes: maxNodes + 1, calls: 1}, []string{"nodes"}, false},
		"no calls":         {options{nodes: 3}, []string{"nodes", "calls"}, false},
		"a time in a past": {options{nodes: 3, calls: 1, lasts: -1}, []string{"nodes", "for"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.of.checkNodes(func(flag string) bool { return slices.Contains(c.given, flag) })
			if (err == nil) != c.right {
				t.Error(err)
			}
		})
	}
}
