package loop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// People says whether somebody can be asked during a run. The zero value is a headless run: whatever would need a
// person is a no, and the model is told so.
type People struct {
	// Attended says that somebody sees what the run asks for, and may respond.
	Attended bool `json:"attended,omitempty"`
	// Expiry is how long a decision may wait. In an agent's configuration and in a task 0 means 24 hours; in a journal,
	// for ever.
	Expiry time.Duration `json:"expiry,omitempty"`
	// AskOutcome says that a person decides how to go on after a call whose outcome nobody knows. Otherwise the model
	// is told, and decides.
	AskOutcome bool `json:"ask_outcome,omitempty"`
}

const defaultExpiry = 24 * time.Hour

func (p People) WithDefaults() People {
	p.Expiry = FirstPositive(p.Expiry, defaultExpiry, 0)
	return p
}

// DecisionKind is what a person has to decide.
type DecisionKind string

// The kinds of decisions. Each says which verdicts fit it.
const (
	// DecideApproval is whether a call may be made: approve, with other arguments if need be, or reject.
	DecideApproval DecisionKind = "approval"
	// DecideQuestion is what the model asks: answer, or reject to leave it unanswered.
	DecideQuestion DecisionKind = "question"
	// DecideOutcome is what to make of a call whose outcome nobody knows: approve makes it once more, answer tells the
	// model how it ended, reject leaves it unknown.
	DecideOutcome DecisionKind = "outcome"
	// DecidePause is whether a run that got stuck goes on: approve, or reject to end it. A message goes on, too.
	DecidePause DecisionKind = "pause"
)

// Verdict is what was decided.
type Verdict string

// The verdicts.
const (
	VerdictApprove Verdict = "approve"
	VerdictReject  Verdict = "reject"
	VerdictAnswer  Verdict = "answer"
	VerdictExpired Verdict = "expired" // nobody responded in time; only the agent gives it
)

// DecisionRequested says that a person has to decide something before a call, or the run, goes on.
type DecisionRequested struct {
	ID   string       `json:"decision_id"` // within the run
	Kind DecisionKind `json:"kind"`
	// CallID and Tool are of the call that waits; empty for DecidePause.
	CallID string `json:"call_id,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// DisplayName is the tool's name for people. May be empty.
	DisplayName string `json:"display_name,omitempty"`
	// Reason says why somebody is asked; for DecideQuestion it is the question.
	Reason string `json:"reason"`
	// Options are answers that the model proposes. Any other is good, too.
	Options []string `json:"options,omitempty"`
	// Rule is the operator's rule that wants approval. May be empty.
	Rule string `json:"rule,omitempty"`
	// Final are, for DecideApproval, the final arguments: those that the tool gets, after toolhost's filters, repair and
	// defaults. A person is shown them, and an approval is for them and no others. FinalSHA256 is their digest. Both are empty
	// where toolhost did not say them.
	Final       json.RawMessage `json:"arguments,omitempty"`
	FinalSHA256 string          `json:"arguments_sha256,omitempty"`
	// Expiry is how long the decision waits from the event's time on. 0: for ever.
	Expiry time.Duration `json:"expiry,omitempty"`
	// Held is the result that the call has unless a person makes another of it; for DecideOutcome.
	Held *CallResult `json:"held,omitempty"`
}

// DecisionMade is what a person decided.
type DecisionMade struct {
	ID      string  `json:"decision_id"`
	Verdict Verdict `json:"verdict"`
	// Arguments replace those that the decision was requested for, where a call is approved. Empty: as they are. toolhost
	// filters, repairs and completes them like a model's; where that changes them, a person is asked again.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Text is the reason, or the answer. Only an answer needs one.
	Text string `json:"text,omitempty"`
	// By is the person's name as the caller gave it. It is not verified. May be empty.
	By string `json:"by,omitempty"`
	// Principal is the user that responded, as the kernel names it, such as uid:1000. Whatever takes the response from a
	// connection or a terminal sets it; a caller cannot. Empty where the user is not known, and in journals of earlier versions.
	Principal string `json:"principal,omitempty"`
}

// Pending is a decision that is wanted.
type Pending struct {
	DecisionRequested
	Arguments string    // the final ones of a call that needs approval; otherwise the call's, as they would be sent now
	Requested time.Time // when it was asked for
	Expires   time.Time // zero: never
	// RunID is the sub-run that waits, and names the decision together with it in ID. Empty: the run that was asked.
	RunID string
}

// Type implements Payload.
func (*DecisionRequested) Type() Type { return TypeDecisionRequested }

// Type implements Payload.
func (*DecisionMade) Type() Type { return TypeDecisionMade }

// fits returns what is wrong with a verdict on a decision, or nil.
func (d *DecisionMade) fits(p *DecisionRequested) error {
	allowed := map[DecisionKind][]Verdict{
		DecideApproval: {VerdictApprove, VerdictReject},
		DecideQuestion: {VerdictAnswer, VerdictReject},
		DecideOutcome:  {VerdictApprove, VerdictReject, VerdictAnswer},
		DecidePause:    {VerdictApprove, VerdictReject},
	}
	ok := d.Verdict == VerdictExpired
	for _, v := range allowed[p.Kind] {
		ok = ok || v == d.Verdict
	}
	switch {
	case !ok:
		return fmt.Errorf("decision %s is of the kind %s and takes %v, not %q", p.ID, p.Kind, allowed[p.Kind], d.Verdict)
	case d.Verdict == VerdictAnswer && d.Text == "":
		return fmt.Errorf("the answer to decision %s is empty", p.ID)
	case len(d.Arguments) == 0:
		return nil
	case p.Kind != DecideApproval || d.Verdict != VerdictApprove:
		return fmt.Errorf("decision %s takes no arguments with %q", p.ID, d.Verdict)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(d.Arguments, &object); err != nil || object == nil {
		return fmt.Errorf("the arguments for decision %s are no JSON object", p.ID)
	}
	return nil
}

// approval is the consent that toolhost is shown. It names no arguments yet.
func (d *DecisionMade) approval(at time.Time) *tool.Approval {
	return &tool.Approval{ApprovedBy: d.approver(), Reason: d.Text, Time: at}
}

// approver names the person that approved, in the form of toolhost's audit log: the verified user, and in quotes the name that
// the caller gave, as in `uid:1000 ("ada")`.
func (d *DecisionMade) approver() string {
	switch {
	case d.Principal == "":
		return cmp.Or(d.By, "a person")
	case d.By == "":
		return d.Principal
	}
	return fmt.Sprintf("%s (%q)", d.Principal, d.By)
}

// edits reports whether an approval is for other arguments than those that the decision was requested for.
func (d *DecisionMade) edits(p *Pending, sent string) bool {
	return len(d.Arguments) > 0 && string(d.Arguments) != cmp.Or(string(p.Final), sent)
}
