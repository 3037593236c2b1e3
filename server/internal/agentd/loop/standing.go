package loop

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// A person who approves a call can approve later calls with it. The choice is a part of the
// decision, so the journal has it before anything follows from it. The driver then creates the
// standing approval in toolhost, and the call waits for that. The request has an id that follows
// from the decision. So a process that continues the run asks for the same approval again, and
// toolhost creates it once. toolhost alone applies standing approvals: the run never compares
// arguments.

// Standing says which later calls a person approves together with a call. The fields mean what they
// mean in tool.ApprovalRequest.
type Standing struct {
	// Scope is empty in the offers of a decision: the person chooses it.
	Scope        tool.ApprovalScope     `json:"scope,omitempty"`
	AnyArguments bool                   `json:"any_arguments,omitempty"`
	Patterns     []tool.ArgumentPattern `json:"patterns,omitempty"`
	Expires      time.Time              `json:"expire_time,omitzero"`
}

// StandingApproved is the result of a request for a standing approval. The call goes on after it,
// also if toolhost has refused: the person approved the call itself.
type StandingApproved struct {
	DecisionID string `json:"decision_id"`
	CallID     string `json:"call_id"`
	Tool       string `json:"tool"`
	// ApprovalID, Approver and Expires are those of the approval. They are empty after a failure.
	ApprovalID string    `json:"approval_id,omitempty"`
	Approver   string    `json:"approver,omitempty"`
	Expires    time.Time `json:"expire_time,omitzero"`
	Failure    *Failure  `json:"error,omitempty"`
}

// Type implements Payload.
func (*StandingApproved) Type() Type { return TypeStandingApproved }

// ApproveStanding commands to create the standing approval that a person chose with a call.
type ApproveStanding struct {
	Call      Call            // with its approval
	Arguments json.RawMessage // that the person approved
	// RequestID identifies the request at toolhost. It is the same in each process.
	RequestID  string
	DecisionID string
	Definition string // see DecisionRequested.Definition
	Standing   Standing
}

func (ApproveStanding) command() {}

// standingRequest is the standing approval that a call waits for.
type standingRequest struct {
	decision   string
	definition string
	choice     Standing
}

// maxStandingPatterns bounds the patterns of a choice. toolhost accepts no more.
const maxStandingPatterns = 32

// fitsStanding returns an error if the choice of a standing approval does not fit the decision.
// toolhost checks the patterns.
func (d *DecisionMade) fitsStanding(p *DecisionRequested) error {
	s := d.Standing
	if s == nil {
		return nil
	}
	switch {
	case p.Kind != DecideApproval || d.Verdict != VerdictApprove:
		return fmt.Errorf("decision %s: only the approval of a call can approve later calls", p.ID)
	case p.FourEyes:
		return fmt.Errorf("decision %s: another principal has to approve each call, so no later call can be approved with it", p.ID)
	case p.Definition == "":
		return fmt.Errorf("decision %s: this toolhost has no standing approvals", p.ID)
	case !slices.Contains([]tool.ApprovalScope{tool.ScopeRun, tool.ScopeSession, tool.ScopePrincipal}, s.Scope):
		return fmt.Errorf("decision %s: the approval of later calls has no scope; choose run, session or principal", p.ID)
	case s.AnyArguments && (s.Scope != tool.ScopeRun || len(s.Patterns) > 0):
		return fmt.Errorf("decision %s: calls with any arguments can be approved only for this run, and without patterns", p.ID)
	case s.Scope == tool.ScopePrincipal && s.Expires.IsZero():
		return fmt.Errorf("decision %s: an approval of all later calls needs the time of its end", p.ID)
	case len(s.Patterns) > maxStandingPatterns:
		return fmt.Errorf("decision %s: the approval of later calls has %d patterns; it may have %d", p.ID, len(s.Patterns), maxStandingPatterns)
	}
	return nil
}

// standingRequestID returns the id of the request for the standing approval of a decision. It has
// the same length for every call. It names the session as a call does: another agentd may have a
// run with the same id.
func standingRequestID(session string, c *Call, decision string) string {
	const length = 32
	sum := sha256.Sum256([]byte(strings.Join([]string{session, c.ID, decision}, "\n"))) // no id has a line break
	return "standing-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:length]
}

// standings returns the commands to create the standing approvals that calls wait for.
func (s *State) standings() []Command {
	var list []Command
	for i := range s.batch.list {
		c := &s.batch.list[i]
		if w := c.standing; w != nil && c.result == nil && s.cancel == nil {
			list = append(list, ApproveStanding{
				Call: c.Call, Arguments: json.RawMessage(cmp.Or(c.final, c.Arguments)), RequestID: standingRequestID(s.started.Session, &c.Call, w.decision), DecisionID: w.decision, Definition: w.definition, Standing: w.choice,
			})
		}
	}
	return list
}

func (s *State) applyStandingApproved(p *StandingApproved) error {
	c := s.batch.find(p.CallID)
	if c == nil || c.standing == nil || c.standing.decision != p.DecisionID || (p.ApprovalID == "") == (p.Failure == nil) {
		return fmt.Errorf("event %d has a standing approval for call %s, which waits for none", s.seq, p.CallID)
	}
	c.standing = nil
	return nil
}

// StandingResult returns the event that follows from the answer to a request.
func (c *ApproveStanding) StandingResult(a *tool.StandingApproval, err error) *StandingApproved {
	p := &StandingApproved{DecisionID: c.DecisionID, CallID: c.Call.ID, Tool: c.Call.Tool}
	if err != nil {
		e := tool.AsError(err)
		p.Failure = &Failure{Kind: e.Kind, Message: e.Error()}
		return p
	}
	if a.ID == "" {
		p.Failure = &Failure{Kind: tool.KindInternal, Message: "toolhost returned a standing approval without an id"}
		return p
	}
	p.ApprovalID, p.Approver, p.Expires = a.ID, a.Approver, a.Expires
	return p
}
