package loop

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// People says whether the run can ask a person. The zero value is a headless run: everything that
// needs a person is refused, and the model reads that.
type People struct {
	// Attended means that a person sees the run's decisions and can respond.
	Attended bool `json:"attended,omitempty"`
	// Expiry is how long a decision may wait. In an agent's configuration and in a task, 0 means 24
	// hours. In a journal it means without end.
	Expiry time.Duration `json:"expiry,omitempty"`
	// AskOutcome means that a person decides how the run continues after a call with an unknown
	// outcome. Otherwise the model decides.
	AskOutcome bool `json:"ask_outcome,omitempty"`
}

const defaultExpiry = 24 * time.Hour

func (p People) WithDefaults() People {
	p.Expiry = FirstPositive(p.Expiry, defaultExpiry, 0)
	return p
}

// DecisionKind says what a person has to decide.
type DecisionKind string

// The kinds of decisions, with the verdicts that fit each.
const (
	// DecideApproval: may the call be made? Approve, optionally with other arguments, or reject.
	DecideApproval DecisionKind = "approval"
	// DecideQuestion: the model asks a question. Answer, or reject to leave it unanswered.
	DecideQuestion DecisionKind = "question"
	// DecideOutcome: the outcome of a call is unknown. Approve makes the call again, answer tells
	// the model how it ended, reject leaves it unknown.
	DecideOutcome DecisionKind = "outcome"
	// DecidePause: the run makes no progress. Approve continues the run, reject ends it. A user
	// message continues it, too.
	DecidePause DecisionKind = "pause"
	// DecideTool: the tool of a running call asks. Answer with an object that fits the schema of the
	// question, or with a text if the schema has only that; reject declines.
	DecideTool DecisionKind = "tool"
)

// Verdict is a person's decision.
type Verdict string

// The verdicts.
const (
	VerdictApprove Verdict = "approve"
	VerdictReject  Verdict = "reject"
	VerdictAnswer  Verdict = "answer"
	VerdictExpired Verdict = "expired" // no response in time; only the agent sets it
)

// DecisionRequested says that a call, or the run, waits for a person's decision.
type DecisionRequested struct {
	ID   string       `json:"decision_id"` // within the run
	Kind DecisionKind `json:"kind"`
	// CallID and Tool name the call that waits. Both are empty for DecidePause.
	CallID string `json:"call_id,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// DisplayName is the tool's name for people. May be empty.
	DisplayName string `json:"display_name,omitempty"`
	// Reason says why the run needs a person. For DecideQuestion it is the question.
	Reason string `json:"reason"`
	// Options are answers that the model proposes. The person may give any other.
	Options []string `json:"options,omitempty"`
	// Rule is the policy rule that requires the approval. May be empty.
	Rule string `json:"rule,omitempty"`
	// FourEyes means that a principal other than the run's must approve.
	FourEyes bool `json:"four_eyes,omitempty"`
	// Approvers are the keys of the groups of which the approver has to be in one: GROUP, or
	// TENANT/GROUP outside of the default tenant. Empty: any approver.
	Approvers []string `json:"approver_groups,omitempty"`
	// Final are the final arguments for DecideApproval: what the tool receives after toolhost's
	// filters, repair and defaults. The person sees them, and an approval covers exactly these.
	// FinalSHA256 is their digest. Both are empty if toolhost did not report them.
	Final       json.RawMessage `json:"arguments,omitempty"`
	FinalSHA256 string          `json:"arguments_sha256,omitempty"`
	// Schema is the JSON Schema of the tool's arguments, for DecideApproval: other arguments have to
	// fit it. Empty if it is unknown or very large.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Diff is what the call would change, as a unified diff, for DecideApproval. It is text of the
	// plugin: the tool computed it from Final without executing the call. What is to be changed may
	// change before the call is executed. Empty if the tool shows none.
	Diff string `json:"diff,omitempty"`
	// Definition is the digest of the tool's definition, for DecideApproval. Empty if toolhost has no
	// standing approvals: the decision then takes no Standing.
	Definition string `json:"definition_sha256,omitempty"`
	// SessionMove says, for DecideApproval, that an approval also moves the session, as Reason tells
	// the person; see tool.Error.
	SessionMove string `json:"session_move,omitempty"`
	// Offers are standing approvals that the person may choose together with an approval. The person
	// may choose others.
	Offers []Standing `json:"standing_offers,omitempty"`
	// Expiry is how long the decision waits after the event. 0 means without end.
	Expiry time.Duration `json:"expiry,omitempty"`
	// Held is, for DecideOutcome, the result of the call if the person does not change it.
	Held *CallResult `json:"held,omitempty"`
	// Question is set for DecideTool.
	Question *ToolQuestion `json:"tool_question,omitempty"`
}

// DecisionMade is a person's decision.
type DecisionMade struct {
	ID      string  `json:"decision_id"`
	Verdict Verdict `json:"verdict"`
	// Arguments replace the call's arguments in an approval. Empty leaves them unchanged. toolhost
	// filters, repairs and completes them like a model's arguments. If that changes them, the
	// person has to approve again.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Text is the reason or the answer. Only an answer needs it.
	Text string `json:"text,omitempty"`
	// By is the person's name as the caller gave it. It is not verified. May be empty.
	By string `json:"by,omitempty"`
	// Principal is the key of the principal that responded, such as uid:1000. The component that
	// accepts the connection or reads the terminal sets it; a caller cannot. Empty for an expired
	// decision, and in journals of earlier versions.
	Principal string `json:"principal,omitempty"`
	// Groups are the groups of Principal within its tenant. Who sets Principal sets them. Nil: they
	// are not known here, because Principal is the user of this process; toolhost knows them.
	Groups []string `json:"groups,omitempty"`
	// Standing approves later calls together with this one. Nil approves only this call.
	Standing *Standing `json:"standing,omitempty"`
	// RequestID identifies the request with the verdict, so that a repeated one is recognized. Empty:
	// it has no id.
	RequestID string `json:"request_id,omitempty"`
}

// Pending is a decision that has not been made yet.
type Pending struct {
	DecisionRequested
	Arguments string    // the final arguments for an approval; otherwise the call's
	Requested time.Time // time of the request
	Expires   time.Time // zero: never
	// RunID is the sub-run that waits; ID then names the sub-run and the decision. Empty means the
	// run itself.
	RunID string
}

// Etag returns a digest of what the person decides about. The time of the request tells two
// decisions with the same id apart, as a restored journal can have them.
func (p *Pending) Etag() string {
	shown := p.DecisionRequested
	shown.Held, shown.Expiry = nil, 0 // the end may move
	data, err := json.Marshal(struct {
		DecisionRequested
		Of   string    // as Arguments would hide those of DecisionRequested
		Time time.Time // of the request
	}{shown, p.Arguments, p.Requested.UTC().Round(0)})
	if err != nil {
		return "" // which no request has
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// SameVerdict reports whether two requests decide the same.
func (d *DecisionMade) SameVerdict(other *DecisionMade) bool {
	return d.Verdict == other.Verdict && d.Text == other.Text && bytes.Equal(d.Arguments, other.Arguments)
}

// Type implements Payload.
func (*DecisionRequested) Type() Type { return TypeDecisionRequested }

// Type implements Payload.
func (*DecisionMade) Type() Type { return TypeDecisionMade }

// fits returns an error if the verdict does not fit the decision.
func (d *DecisionMade) fits(p *DecisionRequested) error {
	allowed := map[DecisionKind][]Verdict{
		DecideApproval: {VerdictApprove, VerdictReject},
		DecideQuestion: {VerdictAnswer, VerdictReject},
		DecideOutcome:  {VerdictApprove, VerdictReject, VerdictAnswer},
		DecidePause:    {VerdictApprove, VerdictReject},
		DecideTool:     {VerdictAnswer, VerdictReject},
	}
	if err := d.fitsStanding(p); err != nil {
		return err
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
	case p.Kind == DecideTool && d.Verdict == VerdictAnswer && len(d.Arguments) == 0:
		if _, err := AnswerContent(p.Question.Schema, d.Text); err != nil {
			return fmt.Errorf("decision %s: %w", p.ID, err)
		}
		return nil
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
