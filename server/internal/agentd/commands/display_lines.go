package commands

import (
	"encoding/json"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

type decisionRequestedLine struct {
	header
	DecisionID string              `json:"decision_id"`
	Kind       client.DecisionKind `json:"kind"`
	CallID     string              `json:"call_id,omitempty"`
	Tool       string              `json:"tool,omitempty"`
	Reason     string              `json:"reason"`
	Options    []string            `json:"options,omitempty"`
	Rule       string              `json:"rule,omitempty"`
	Arguments  json.RawMessage     `json:"arguments,omitempty"`
	ExpireTime time.Time           `json:"expire_time,omitzero"`
	Plugin     string              `json:"plugin,omitempty"` // with Schema, for a question of a tool
	Schema     json.RawMessage     `json:"schema,omitempty"`
	Diff       string              `json:"diff,omitempty"`
	Offers     []standingChoice    `json:"standing_offers,omitempty"`
}

type decisionMadeLine struct {
	header
	DecisionID string          `json:"decision_id"`
	Verdict    client.Verdict  `json:"verdict"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	Text       string          `json:"text,omitempty"`
	DecidedBy  string          `json:"decided_by,omitempty"`
	Principal  string          `json:"principal,omitempty"`
	Standing   *standingChoice `json:"standing,omitempty"`
}

type decisionExtendedLine struct {
	header
	DecisionID string    `json:"decision_id"`
	ExpireTime time.Time `json:"expire_time"`
	Principal  string    `json:"principal,omitempty"`
}

// standingLine is a standing approval that a person chose, or why there is none.
type standingLine struct {
	header
	DecisionID string    `json:"decision_id"`
	CallID     string    `json:"call_id"`
	Tool       string    `json:"tool"`
	ApprovalID string    `json:"approval_id,omitempty"`
	Approver   string    `json:"approver,omitempty"`
	ExpireTime time.Time `json:"expire_time,omitzero"`
	Error      string    `json:"error,omitempty"`
}

// standingChoice is the choice of a standing approval.
type standingChoice struct {
	Scope        tool.ApprovalScope     `json:"scope,omitempty"`
	AnyArguments bool                   `json:"any_arguments,omitempty"`
	Patterns     []tool.ArgumentPattern `json:"patterns,omitempty"`
	Expires      time.Time              `json:"expire_time,omitzero"`
}

type budgetLine struct {
	header
	Budget string  `json:"budget"`
	Used   float64 `json:"used"`
	Limit  float64 `json:"limit"`
}

type contextLine struct {
	header
	Keys    []string          `json:"keys"`
	Refused map[string]string `json:"refused,omitempty"`
}

type todoLine struct {
	header
	Todos json.RawMessage `json:"todos"`
}

type subRunLine struct {
	header
	CallID string `json:"call_id"`
	RunID  string `json:"run_id"`
	Prompt string `json:"prompt"`
}

type subRunWaitingLine struct {
	header
	CallID      string   `json:"call_id"`
	RunID       string   `json:"run_id"`
	DecisionIDs []string `json:"decision_ids"`
}

type modelRepliedLine struct {
	header
	CallID string     `json:"call_id"`
	Tool   string     `json:"tool"`
	Plugin string     `json:"plugin"`
	Usage  tool.Usage `json:"usage,omitzero"`
	Cost   float64    `json:"cost,omitempty"`
	Error  string     `json:"error,omitempty"`
}

type compactedLine struct {
	header
	Reason           string `json:"reason,omitempty"`
	ClearedResults   int    `json:"cleared_results"`
	ReplacedMessages int    `json:"replaced_messages"`
	Summary          string `json:"summary,omitempty"`
}

// moreLine returns the line of an event that few runs have.
func moreLine(h header, e client.RunEvent) any {
	switch p := e.Payload.(type) {
	case *client.DecisionRequested:
		d := &p.Decision
		l := decisionRequestedLine{
			header: h, DecisionID: d.ID, Kind: d.Kind, CallID: d.CallID, Tool: d.Tool, Reason: d.Reason, Options: d.Options, Rule: d.Rule, Diff: d.Diff,
		}
		if json.Valid(d.Arguments) {
			l.Arguments = d.Arguments
		}
		if json.Valid(d.Schema) {
			l.Plugin, l.Schema = d.Plugin, d.Schema
		}
		for _, offer := range d.StandingOffers {
			l.Offers = append(l.Offers, standingChoice(offer))
		}
		if !d.Expires.IsZero() {
			l.ExpireTime = d.Expires.UTC()
		}
		return l
	case *client.ReasoningDelta:
		return textLine{header: h, Text: p.Text}
	case *client.ArgumentDelta:
		return argumentLine{h, p.CallID, p.Tool, p.Text}
	case *client.AnswerDelta:
		return answerLine{h, p.Answer}
	case *client.DecisionMade:
		return decisionMadeLine{h, p.ID, p.Verdict, p.Arguments, p.Text, p.DecidedBy, p.Principal, (*standingChoice)(p.Standing)}
	case *client.StandingApproved:
		l := standingLine{header: h, DecisionID: p.DecisionID, CallID: p.CallID, Tool: p.Tool, ApprovalID: p.ApprovalID, Approver: p.Approver, ExpireTime: p.Expires}
		if p.Err != nil {
			l.Error = p.Err.Message
		}
		return l
	case *client.DecisionExtended:
		return decisionExtendedLine{h, p.ID, p.Expires.UTC(), p.Principal}
	case *client.BudgetWarning:
		return budgetLine{h, p.Budget, p.Used, p.Limit}
	case *client.ContextChange:
		return contextLine{h, p.Keys, p.Refused}
	case *client.TodoChange:
		return todoLine{h, p.Todos}
	case *client.SubRunStarted:
		return subRunLine{h, p.CallID, p.RunID, p.Prompt}
	case *client.SubRunWaiting:
		return subRunWaitingLine{h, p.CallID, p.RunID, p.DecisionIDs}
	case *client.ModelReplied:
		l := modelRepliedLine{header: h, CallID: p.CallID, Tool: p.Tool, Plugin: p.Plugin, Usage: p.Usage, Cost: p.Cost}
		if p.Err != nil {
			l.Error = p.Err.Message
		}
		return l
	case *client.Compacted:
		return compactedLine{h, p.Reason, p.ClearedResults, p.ReplacedMessages, p.Summary}
	}
	return h
}
