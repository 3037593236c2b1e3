package loop

import (
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// MaxExtended is how long after the request of a decision an extension can let it end. A run that
// waits keeps its sub-runs and its call at toolhost waiting, so somebody has to decide at last.
const MaxExtended = 7 * 24 * time.Hour

// DecisionExtended moves the end of a decision that waits. It says nothing about the content.
type DecisionExtended struct {
	ID      string    `json:"decision_id"`
	Expires time.Time `json:"expire_time"`
	// Principal is the key of the principal that moved the end. The component that accepts the
	// connection sets it; a caller cannot.
	Principal string `json:"principal,omitempty"`
}

// Type implements Payload.
func (*DecisionExtended) Type() Type { return TypeDecisionExtended }

// Extends reports whether an extension moves the end of the decision. The end never moves to an
// earlier time. Errors: KindConflict if the decision has no end, or its end has passed although the
// journal does not say so yet; KindInvalidArgument if the new end is not possible.
func (p *Pending) Extends(e *DecisionExtended, now time.Time) (bool, error) {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	last, why := p.Requested.Add(MaxExtended), "7 days after it was requested"
	if q := p.Question; q != nil && !q.Expires.IsZero() && q.Expires.Before(last) {
		last, why = q.Expires, "when its tool gives up"
	}
	switch {
	case p.Expires.IsZero():
		return false, tool.Errorf(tool.KindConflict, "decision %s waits without an end, so there is nothing to extend", p.ID)
	case !now.Before(p.Expires):
		return false, tool.Errorf(tool.KindConflict, "decision %s has ended: nobody decided until %s, which counts as a No", p.ID, at(p.Expires))
	case !e.Expires.After(now):
		return false, tool.Errorf(tool.KindInvalidArgument, "decision %s cannot end at %s, which is not in the future", p.ID, at(e.Expires))
	case !e.Expires.After(p.Expires):
		return false, nil
	case e.Expires.After(last):
		return false, tool.Errorf(tool.KindInvalidArgument, "decision %s cannot wait until %s, but at most until %s, %s", p.ID, at(e.Expires), at(last), why)
	}
	return true, nil
}

func (s *State) applyExtended(e *DecisionExtended) error {
	p := s.people.decision(e.ID)
	if p == nil || p.Expires.IsZero() || !e.Expires.After(p.Expires) {
		return fmt.Errorf("event %d extends decision %s, which cannot be", s.seq, Clip(e.ID))
	}
	p.Expires, p.Expiry = e.Expires, e.Expires.Sub(p.Requested)
	return nil
}
