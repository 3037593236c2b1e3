package loop

import (
	"fmt"
	"slices"
	"strings"
)

// A sub-run records the decisions that it waits for in its parent's journal. The parent does the
// same in the journal of its own parent, up to the run that a user started. A person who looks at
// that run sees all these decisions and can respond there. In that run the name of such a decision
// is RUN/DECISION.

// SubRunWaiting says which decisions a sub-run, or a run below it, waits for.
type SubRunWaiting struct {
	CallID    string   `json:"call_id"`
	RunID     string   `json:"run_id"`              // the sub-run
	Decisions []string `json:"decisions,omitempty"` // as RUN/DECISION; empty: it waits for none
}

// Type implements Payload.
func (*SubRunWaiting) Type() Type { return TypeSubRunWaiting }

const refSeparator = "/" // no run id contains it

func DecisionRef(runID, id string) string { return runID + refSeparator + id }

// SplitRef returns the run and the decision of a reference. The run is empty for a decision of the
// run itself.
func SplitRef(name string) (runID, id string) {
	if i := strings.LastIndex(name, refSeparator); i >= 0 { // a run id may contain the name of a tenant
		return name[:i], name[i+1:]
	}
	return "", name
}

func (b *Batch) applySubRunWaiting(seq uint64, p *SubRunWaiting) error {
	c := b.find(p.CallID)
	if c == nil || c.System != SystemNewTask || c.result != nil {
		return fmt.Errorf("event %d says what the sub-run of call %s waits for, which has none", seq, p.CallID)
	}
	c.waitsFor = p.Decisions
	return nil
}

// SubRunDecisions returns the decisions that sub-runs wait for.
func (b *Batch) SubRunDecisions() []string {
	var refs []string
	for i := range b.list {
		if c := &b.list[i]; c.running() {
			refs = append(refs, c.waitsFor...)
		}
	}
	return refs
}

// waitsBelow reports whether a call only waits for a decision in its sub-run or below.
func (b *Batch) waitsBelow(callID string) bool {
	c := b.find(callID)
	return c != nil && len(c.waitsFor) > 0
}

// Concerns reports whether an event about a sub-run changes the state: the sub-run's call is in
// progress and waits for other decisions than before.
func (b *Batch) Concerns(p *SubRunWaiting) bool {
	c := b.find(p.CallID)
	return c != nil && c.running() && !slices.Equal(c.waitsFor, p.Decisions)
}
