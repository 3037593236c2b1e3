package commands

import (
	"encoding/json"
	"time"

	"github.com/toolhost/toolhost/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

type decisionRequestedLine struct {
	header
	DecisionID string            `json:"decision_id"`
	Kind       loop.DecisionKind `json:"kind"`
	CallID     string            `json:"call_id,omitempty"`
	Tool       string            `json:"tool,omitempty"`
	Reason     string            `json:"reason"`
	Options    []string          `json:"options,omitempty"`
	Rule       string            `json:"rule,omitempty"`
	Arguments  json.RawMessage   `json:"arguments,omitempty"`
	ExpireTime time.Time         `json:"expire_time,omitzero"`
	Plugin     string            `json:"plugin,omitempty"` // with Schema, for a question of a tool
	Schema     json.RawMessage   `json:"schema,omitempty"`
	Diff       string            `json:"diff,omitempty"`
	Offers     []loop.Standing   `json:"standing_offers,omitempty"`
}

type decisionMadeLine struct {
	header
	DecisionID string          `json:"decision_id"`
	Verdict    loop.Verdict    `json:"verdict"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	Text       string          `json:"text,omitempty"`
	DecidedBy  string          `json:"decided_by,omitempty"`
	Principal  string          `json:"principal,omitempty"`
	Standing   *loop.Standing  `json:"standing,omitempty"`
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

type budgetLine struct {
	header
	Budget loop.Budget `json:"budget"`
	Used   float64     `json:"used"`
	Limit  float64     `json:"limit"`
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
func moreLine(h header, e loop.Event) any {
	switch p := e.Payload.(type) {
	case *loop.DecisionRequested:
		l := decisionRequestedLine{
			header: h, DecisionID: p.ID, Kind: p.Kind, CallID: p.CallID, Tool: p.Tool, Reason: p.Reason, Options: p.Options, Rule: p.Rule,
		}
		if json.Valid(p.Final) {
			l.Arguments = p.Final
		}
		if p.Question != nil && json.Valid(p.Question.Schema) {
			l.Plugin, l.Schema = p.Question.Plugin, p.Question.Schema
		}
		if p.Kind == loop.DecideApproval && json.Valid(p.Schema) {
			l.Schema = p.Schema
		}
		l.Diff, l.Offers = p.Diff, p.Offers
		if p.Expiry > 0 {
			l.ExpireTime = e.Time.Add(p.Expiry).UTC()
		}
		return l
	case *loop.ReasoningDelta:
		return textLine{header: h, Text: p.Text}
	case *loop.ArgumentDelta:
		return argumentLine{h, p.CallID, p.Tool, p.Text}
	case *loop.AnswerDelta:
		return answerLine{h, p.Answer}
	case *loop.DecisionMade:
		return decisionMadeLine{h, p.ID, p.Verdict, p.Arguments, p.Text, p.By, p.Principal, p.Standing}
	case *loop.StandingApproved:
		l := standingLine{header: h, DecisionID: p.DecisionID, CallID: p.CallID, Tool: p.Tool, ApprovalID: p.ApprovalID, Approver: p.Approver, ExpireTime: p.Expires}
		if p.Failure != nil {
			l.Error = p.Failure.Message
		}
		return l
	case *loop.BudgetWarning:
		return budgetLine{h, p.Budget, p.Used, p.Limit}
	case *loop.ContextChange:
		return contextLine{h, p.Keys, p.Refused}
	case *loop.TodoChange:
		return todoLine{h, p.Todos}
	case *loop.SubRunStarted:
		return subRunLine{h, p.CallID, p.RunID, p.Prompt}
	case *loop.SubRunWaiting:
		return subRunWaitingLine{h, p.CallID, p.RunID, p.Decisions}
	case *loop.ModelReplied:
		l := modelRepliedLine{header: h, CallID: p.CallID, Tool: p.Tool, Plugin: p.Plugin, Usage: p.Usage, Cost: p.Cost}
		if p.Failure != nil {
			l.Error = p.Failure.Message
		}
		return l
	case *loop.Compacted:
		return compactedLine{h, p.Reason, len(p.Cleared), p.Replaced, p.Summary}
	}
	return h
}
