package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// What a sub-run waits for is told in the journal of the run above it, and so on up to the run that somebody started: who
// looks at that one sees that a person is wanted, and may respond there. A decision of another run is named RUN/DECISION.

// SubRunWaiting says which decisions a sub-run, or one below it, waits for.
type SubRunWaiting struct {
	CallID    string   `json:"call_id"`
	RunID     string   `json:"run_id"`              // the sub-run
	Decisions []string `json:"decisions,omitempty"` // as RUN/DECISION; none: it waits for nobody any more
}

// Type implements Payload.
func (*SubRunWaiting) Type() Type { return TypeSubRunWaiting }

const refSeparator = "/" // no run id has it

func decisionRef(runID, id string) string { return runID + refSeparator + id }

// splitRef returns the run and the decision that a name means; no run if it is one of the run that is asked.
func splitRef(name string) (runID, id string) {
	if runID, id, ok := strings.Cut(name, refSeparator); ok {
		return runID, id
	}
	return "", name
}

func (s *State) applySubRunWaiting(p *SubRunWaiting) error {
	c := s.find(p.CallID)
	if c == nil || c.System != SystemNewTask || c.result != nil {
		return fmt.Errorf("event %d says what the sub-run of call %s waits for, which has none", s.seq, p.CallID)
	}
	c.asks = p.Decisions
	return nil
}

// wantedBelow returns the decisions that sub-runs wait for.
func (s *State) wantedBelow() []string {
	var refs []string
	for i := range s.batch {
		if c := &s.batch[i]; c.running() {
			refs = append(refs, c.asks...)
		}
	}
	return refs
}

// waits reports whether a call does nothing but wait for a person, in a run below this one.
func (s *State) waits(callID string) bool {
	c := s.find(callID)
	return c != nil && len(c.asks) > 0
}

// wanted returns the decisions that a run and those below it wait for, by the names that they have above it.
func (a *Agent) wanted(ctx context.Context, runID string) ([]string, error) {
	r, err := a.summaryOf(ctx, runID)
	if err != nil || !r.Waiting {
		return nil, err
	}
	var s State
	if _, err := a.fold(ctx, runID, &s); err != nil {
		return nil, err
	}
	var refs []string
	for i := range s.decisions {
		refs = append(refs, decisionRef(runID, s.decisions[i].ID))
	}
	return append(refs, s.wantedBelow()...), nil
}

// pendingBelow returns what sub-runs wait for, as far as they still do.
func (a *Agent) pendingBelow(ctx context.Context, s *State) ([]Pending, error) {
	var list []Pending
	folded := make(map[string][]Pending)
	for _, ref := range s.wantedBelow() {
		runID, id := splitRef(ref)
		if _, ok := folded[runID]; !ok {
			var below State
			if _, err := a.fold(ctx, runID, &below); err != nil {
				return nil, err
			}
			folded[runID] = below.Pending()
		}
		for _, p := range folded[runID] {
			if p.ID == id {
				p.ID, p.RunID = ref, runID
				list = append(list, p)
			}
		}
	}
	return list, nil
}

// addressee returns the run that decisions are for, which the caller named runID, and how that run names them.
func (a *Agent) addressee(ctx context.Context, runID string, decisions []DecisionMade) (string, []DecisionMade, error) {
	made := slices.Clone(decisions)
	at := ""
	for i := range made {
		below, id := splitRef(made[i].ID)
		if below == "" {
			below = runID
		}
		if i > 0 && below != at {
			return "", nil, tool.Errorf(tool.KindInvalidArgument, "the decisions are for several runs, %s and %s; respond to one after the other", at, below)
		}
		at, made[i].ID = below, id
	}
	for above, depth := at, 0; above != runID; depth++ {
		r, err := a.summaryOf(ctx, above)
		if err != nil || r.Parent == nil || depth > maxDepth {
			return "", nil, tool.Errorf(tool.KindNotFound, "run %s has no sub-run %q", runID, clip(at))
		}
		above = r.Parent.RunID
	}
	return at, made, nil
}

// maxDepth bounds how many runs are asked whose sub-run they are: more than there are levels anywhere.
const maxDepth = 1000
