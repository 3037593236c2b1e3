package loop

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// approve marks a call as approved: for the final arguments that the person saw, or for other
// arguments, which toolhost may then not change. A call with an unknown outcome is made again with
// the earlier approval.
func (c *callState) approve(d *DecisionMade, p *Pending, at time.Time) {
	approval := d.approval(at)
	approval.SessionMove = p.SessionMove
	if p.Kind == DecideOutcome {
		c.Supersedes = append(slices.Clip(c.Supersedes), c.SentID())
	}
	switch before := c.Approval; {
	case d.edits(p, c.Arguments):
		c.Arguments, c.edited, c.final = string(d.Arguments), true, ""
		approval.Arguments = d.Arguments
	case p.Kind == DecideOutcome && before != nil:
		approval.Arguments, approval.ArgumentsSHA256 = before.Arguments, before.ArgumentsSHA256
	case p.Kind == DecideOutcome: // its arguments needed no approval
	case p.FinalSHA256 != "":
		approval.ArgumentsSHA256, c.final = p.FinalSHA256, string(p.Final)
	default: // toolhost did not report the final arguments
		approval.Arguments = json.RawMessage(c.Arguments)
	}
	c.Approval, c.held, c.started = approval, nil, false
	if d.Standing != nil {
		c.standing = &standingRequest{decision: d.ID, definition: p.Definition, choice: *d.Standing}
	}
}

// mayAsk reports whether a person can decide something new about a call that needs approval: the
// call was not approved before, or its final arguments have changed since, or it would move the
// session from where the approval does not say. A person is never asked about arguments that cannot
// be shown.
func (c *callState) mayAsk(f *Failure) bool {
	if f.FinalSHA256 == "" {
		return c.Approval == nil
	}
	return len(f.Final) > 0 && (c.Approval == nil || c.Approval.ArgumentsSHA256 != f.FinalSHA256 || f.SessionMove != "" && c.Approval.SessionMove != f.SessionMove)
}

// approval returns the approval for toolhost, without the arguments that it covers.
func (d *DecisionMade) approval(at time.Time) *tool.Approval {
	a := &tool.Approval{Approver: d.Principal, ApproverGroups: d.Groups, ApprovedBy: d.By, Reason: d.Text, Time: at}
	if a.Approver == "" && a.ApprovedBy == "" {
		a.ApprovedBy = "a person"
	}
	return a
}

// edits reports whether an approval has other arguments than the decision was requested for.
func (d *DecisionMade) edits(p *Pending, sent string) bool {
	return len(d.Arguments) > 0 && string(d.Arguments) != cmp.Or(string(p.Final), sent)
}
