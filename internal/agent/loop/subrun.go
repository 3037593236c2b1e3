package loop

import (
	"fmt"
	"slices"
	"strings"
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

func DecisionRef(runID, id string) string { return runID + refSeparator + id }

// splitRef returns the run and the decision that a name means; no run if it is one of the run that is asked.
func SplitRef(name string) (runID, id string) {
	if runID, id, ok := strings.Cut(name, refSeparator); ok {
		return runID, id
	}
	return "", name
}

func (b *batch) applySubRunWaiting(seq uint64, p *SubRunWaiting) error {
	c := b.find(p.CallID)
	if c == nil || c.System != SystemNewTask || c.result != nil {
		return fmt.Errorf("event %d says what the sub-run of call %s waits for, which has none", seq, p.CallID)
	}
	c.waitsFor = p.Decisions
	return nil
}

// wantedBelow returns the decisions that sub-runs wait for.
func (b *batch) SubRunDecisions() []string {
	var refs []string
	for i := range b.list {
		if c := &b.list[i]; c.running() {
			refs = append(refs, c.waitsFor...)
		}
	}
	return refs
}

// waits reports whether a call does nothing but wait for a person, in a run below this one.
func (b *batch) WaitsForPerson(callID string) bool {
	c := b.find(callID)
	return c != nil && len(c.waitsFor) > 0
}

// Concerns reports whether an event about a sub-run changes anything: the sub-run's call is under way, and waits for other
// decisions by now.
func (b *batch) Concerns(p *SubRunWaiting) bool {
	c := b.find(p.CallID)
	return c != nil && c.running() && !slices.Equal(c.waitsFor, p.Decisions)
}
