package loop

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

// The messages that tell the model what people decided.
const (
	rejectedCall  = "[rejected] %s did not allow this call, so it was not made%s. Do not try it again unless you are told to."
	expiredCall   = "[rejected] Nobody approved this call within %s, so it was not made. Go on without it or tell the user."
	expiredAnswer = "[no answer] Nobody answered within %s. Go on with what you know, and say what you assumed."
	refusedAnswer = "[no answer] %s does not want to answer this%s."
	headlessAsk   = "[no answer] Nobody can be asked in this run. Go on with what you know, and say what you assumed."
	toldOutcome   = "[outcome] How this call ended was not known; %s looked and says: %s"
	keptOutcome   = " A person was asked and did not decide otherwise%s."
)

// people is the decisions that the run waits for.
type people struct {
	decisions []Pending // in the order of the requests
	asked     int       // the number of decisions ever requested
}

// decision returns the pending decision with an id, or nil.
func (p *people) decision(id string) *Pending {
	i := slices.IndexFunc(p.decisions, func(d Pending) bool { return d.ID == id })
	if i < 0 {
		return nil
	}
	return &p.decisions[i]
}

// withdraw removes the decisions of a call, or those of the run itself if callID is empty.
func (p *people) withdraw(callID string) {
	p.decisions = slices.DeleteFunc(p.decisions, func(d Pending) bool { return d.CallID == callID })
}

// check returns an error if a decision cannot be made now.
func (p *people) check(d *DecisionMade) error {
	pending := p.decision(d.ID)
	if pending == nil {
		return fmt.Errorf("decision %q is not wanted, or not any more", Clip(d.ID))
	}
	return d.fits(&pending.DecisionRequested)
}

// Check returns an error if a decision cannot be made now, or not by the principal that made it.
func (s *State) Check(d *DecisionMade) error {
	if err := s.people.check(d); err != nil {
		return err
	}
	if p := s.people.decision(d.ID); p.FourEyes && d.Verdict == VerdictApprove && (d.Principal == "" || d.Principal == s.started.Principal) {
		return tool.Errorf(tool.KindDenied, "decision %s: a principal other than %s, to which the run belongs, has to approve the call", d.ID, s.started.Principal)
	} else if d.Verdict == VerdictApprove && d.Groups != nil && !identity.InGroups(d.Principal, d.Groups, p.Approvers) {
		return tool.Errorf(tool.KindDenied, "decision %s: who approves the call has to be in one of these groups: %s", d.ID, strings.Join(p.Approvers, ", "))
	}
	return nil
}

// Pending returns the decisions that the run waits for, in the order of the requests.
func (s *State) Pending() []Pending {
	list := slices.Clone(s.people.decisions)
	for i := range list {
		if c := s.batch.find(list[i].CallID); c != nil {
			list[i].Arguments = cmp.Or(string(list[i].Final), cmp.Or(c.final, c.Arguments))
		}
	}
	return list
}

// request returns the event that requests a decision.
func (p *people) request(kind DecisionKind, c *Call, reason string, expiry time.Duration) *DecisionRequested {
	d := &DecisionRequested{ID: fmt.Sprintf("d%d", p.asked+1), Kind: kind, Reason: reason, Expiry: expiry}
	if c != nil {
		d.CallID, d.Tool, d.DisplayName = c.ID, c.Tool, c.DisplayName
	}
	return d
}

// Settle returns the event that follows when a call has ended: its result, or a request for a
// person's decision.
func (s *State) Settle(r *CallResult) Payload {
	c := s.batch.find(r.CallID)
	if c == nil || r.Failure == nil || !s.started.People.Attended || s.cancel != nil {
		return r
	}
	switch r.Failure.Kind {
	case tool.KindApprovalRequired:
		if !c.mayAsk(r.Failure) {
			return r
		}
		d := s.people.request(DecideApproval, &c.Call, r.Failure.Message, s.started.People.Expiry)
		d.Rule, d.Final, d.FinalSHA256, d.FourEyes = r.Failure.Rule, r.Failure.Final, r.Failure.FinalSHA256, r.Failure.FourEyes
		d.Definition, d.Approvers, d.SessionMove = r.Failure.Definition, r.Failure.Approvers, r.Failure.SessionMove
		return d
	case tool.KindOutcomeUnknown:
		if s.started.People.AskOutcome {
			d := s.people.request(DecideOutcome, &c.Call, r.Failure.Message, s.started.People.Expiry)
			d.Held = r
			return d
		}
	}
	return r
}

// Review returns the request for a person's decision about a call that has not begun, or nil if a
// person has nothing to decide. r is how the call would end unexecuted.
func Review(s *State, r *CallResult) Payload {
	c := s.batch.find(r.CallID)
	if c == nil || c.started || c.waiting || c.result != nil || r.Failure == nil || r.Failure.Kind != tool.KindApprovalRequired {
		return nil
	}
	if d, ok := s.Settle(r).(*DecisionRequested); ok {
		return d
	}
	return nil
}

func (s *State) applyRequested(p *DecisionRequested, at time.Time) error {
	if s.people.decision(p.ID) != nil || s.finished != nil {
		return fmt.Errorf("event %d asks for decision %s, which cannot be", s.seq, p.ID)
	}
	switch p.Kind {
	case DecideTool:
		c := s.batch.find(p.CallID)
		if c == nil || !c.running() || p.Question == nil {
			return fmt.Errorf("event %d asks a person for call %s, which does not run", s.seq, p.CallID)
		}
		c.askAgain(p.Question.ID)
	case DecidePause:
		if s.paused == nil || s.batch.pending > 0 {
			return fmt.Errorf("event %d pauses a run that goes on", s.seq)
		}
	default:
		c := s.batch.find(p.CallID)
		if c == nil || c.result != nil || c.waiting {
			return fmt.Errorf("event %d requests a decision about call %s, which does not wait for one", s.seq, p.CallID)
		}
		c.waiting, c.held = true, p.Held
	}
	s.people.asked++
	d := Pending{DecisionRequested: *p, Requested: at}
	if p.Expiry > 0 {
		d.Expires = at.Add(p.Expiry)
	}
	s.people.decisions = append(s.people.decisions, d)
	return nil
}

func (s *State) applyMade(d *DecisionMade, at time.Time) error {
	if err := s.Check(d); err != nil {
		return fmt.Errorf("event %d: %w", s.seq, err)
	}
	p := *s.people.decision(d.ID)
	s.people.decisions = slices.DeleteFunc(s.people.decisions, func(p Pending) bool { return p.ID == d.ID })
	if p.Kind == DecidePause {
		s.decidePause(d)
		return nil
	}
	c := s.batch.find(p.CallID)
	if p.Kind == DecideTool {
		c.reply(p.Question.ID, d.answerOf(p.Question))
		return nil
	}
	c.waiting = false
	switch {
	case p.Kind == DecideQuestion:
		c.settled = c.answered(d, p.Expiry)
	case d.Verdict == VerdictApprove:
		c.approve(d, &p, at)
	case p.Kind == DecideOutcome:
		c.settled = c.unsettled(d)
	case d.Verdict == VerdictExpired:
		c.refusal = fmt.Sprintf(expiredCall, p.Expiry)
	default:
		c.refusal = fmt.Sprintf(rejectedCall, cmp.Or(d.By, "A person"), withReason(d.Text))
	}
	return nil
}

func (s *State) decidePause(d *DecisionMade) {
	if d.Verdict != VerdictApprove {
		s.stop, s.stopMessage, s.paused = s.paused.stop, s.paused.message, nil
		return
	}
	s.resume()
	if d.Text != "" {
		s.conversation.unread = append(s.conversation.unread, unread{seq: s.seq, text: d.Text})
	}
}

// answered returns the result of a question.
func (c *callState) answered(d *DecisionMade, expiry time.Duration) *CallResult {
	switch d.Verdict {
	case VerdictAnswer:
		return &CallResult{CallID: c.ID, Tool: c.Tool, Result: tool.TextResult(d.Text)}
	case VerdictExpired:
		return errorResult(&c.Call, fmt.Sprintf(expiredAnswer, expiry))
	}
	return errorResult(&c.Call, fmt.Sprintf(refusedAnswer, cmp.Or(d.By, "The user"), withReason(d.Text)))
}

// unsettled returns the result of a call with an unknown outcome after a person has decided.
func (c *callState) unsettled(d *DecisionMade) *CallResult {
	if d.Verdict == VerdictAnswer {
		words := fmt.Sprintf(toldOutcome, cmp.Or(d.By, "a person"), d.Text)
		return &CallResult{CallID: c.ID, Tool: c.Tool, Result: tool.TextResult(words)}
	}
	r := *c.held
	r.Result.Content = slices.Concat(r.Result.Content, []tool.Content{tool.Text(fmt.Sprintf(keptOutcome, withReason(d.Text))[1:])})
	return &r
}

// withReason appends a reason to a sentence.
func withReason(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
