package agentserver

import (
	"strings"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

func fromEvent(e loop.Event) *agentdv1.RunEvent {
	m := &agentdv1.RunEvent{Seq: e.Seq, Index: e.Index, Time: toolpb.FromTime(e.Time)}
	switch p := e.Payload.(type) {
	case *loop.RunStarted:
		m.Event = &agentdv1.RunEvent_RunStarted{RunStarted: fromStarted(p)}
	case *loop.UserMessage:
		m.Event = &agentdv1.RunEvent_UserMessage{UserMessage: &agentdv1.UserMessage{Text: p.Text, Attachments: fromAttachments(p.Attachments)}}
	case *loop.TextDelta, *loop.ReasoningDelta, *loop.ArgumentDelta, *loop.AnswerDelta:
		addDelta(m, p)
	case *loop.AssistantMessage:
		m.Event = &agentdv1.RunEvent_AssistantMessage{AssistantMessage: fromAssistant(p)}
	case *loop.TurnReset:
		reason := strings.ToValidUTF8(p.Reason, "\uFFFD")
		m.Event = &agentdv1.RunEvent_TurnReset{TurnReset: &agentdv1.TurnReset{Reason: reason, Attempt: uint32(p.Attempt), Model: p.Model}}
	case *loop.CancelRequested:
		m.Event = &agentdv1.RunEvent_CancelRequested{CancelRequested: &agentdv1.CancelRequested{Reason: p.Reason, StopReason: fromStopReason(p.Stop)}}
	case *loop.RunFinished:
		m.Event = &agentdv1.RunEvent_RunFinished{RunFinished: &agentdv1.RunFinished{
			StopReason: fromStopReason(p.StopReason), Message: p.Message, Text: p.Text,
			Turns: uint32(p.Turns), Calls: uint32(p.Calls), Usage: toolpb.FromUsage(p.Usage), Cost: p.Cost, Result: p.Result,
		}}
	case *loop.DecisionRequested:
		m.Event = &agentdv1.RunEvent_DecisionRequested{DecisionRequested: &agentdv1.DecisionRequested{Decision: fromRequested(p, e.Time)}}
	case *loop.DecisionMade:
		m.Event = &agentdv1.RunEvent_DecisionMade{DecisionMade: fromMade(p)}
	case *loop.DecisionExtended:
		m.Event = &agentdv1.RunEvent_DecisionExtended{DecisionExtended: &agentdv1.DecisionExtended{DecisionId: p.ID, ExpireTime: toolpb.FromTime(p.Expires), Principal: p.Principal}}
	default:
		addCallEvent(m, p)
	}
	return m
}

// addDelta sets the payload for what a model is writing. Only these texts come directly from a
// provider. All others have been in the journal's JSON, which is valid UTF-8.
func addDelta(m *agentdv1.RunEvent, p loop.Payload) {
	valid := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
	switch p := p.(type) {
	case *loop.TextDelta:
		m.Event = &agentdv1.RunEvent_TextDelta{TextDelta: &agentdv1.TextDelta{Text: valid(p.Text)}}
	case *loop.ReasoningDelta:
		m.Event = &agentdv1.RunEvent_ReasoningDelta{ReasoningDelta: &agentdv1.ReasoningDelta{Text: valid(p.Text)}}
	case *loop.ArgumentDelta:
		m.Event = &agentdv1.RunEvent_ArgumentDelta{ArgumentDelta: &agentdv1.ArgumentDelta{CallId: p.CallID, Tool: valid(p.Tool), Text: valid(p.Text)}}
	case *loop.AnswerDelta:
		m.Event = &agentdv1.RunEvent_AnswerDelta{AnswerDelta: &agentdv1.AnswerDelta{Answer: p.Answer}}
	}
}

// addCallEvent sets the payload for the events that fromEvent does not handle itself: those about
// calls, sub-runs, budgets, changes of the context and of the todos, resumption and compaction.
func addCallEvent(m *agentdv1.RunEvent, p loop.Payload) {
	switch p := p.(type) {
	case *loop.CallStarted:
		m.Event = &agentdv1.RunEvent_CallStarted{CallStarted: &agentdv1.CallStarted{
			CallId: p.CallID, Tool: p.Tool, Attempt: uint32(p.Attempt), Traceparent: p.Traceparent, LedgerId: p.Ledger,
		}}
	case *loop.CallStatus:
		m.Event = &agentdv1.RunEvent_CallStatus{CallStatus: &agentdv1.CallStatus{CallId: p.CallID, Tool: p.Tool, Status: toolpb.FromStatus(p.Status)}}
	case *loop.CallResult:
		m.Event = &agentdv1.RunEvent_CallResult{CallResult: fromCallResult(p)}
	case *loop.BudgetWarning:
		m.Event = &agentdv1.RunEvent_BudgetWarning{BudgetWarning: &agentdv1.BudgetWarning{Budget: string(p.Budget), Used: p.Used, Limit: p.Limit}}
	case *loop.ContextChange:
		m.Event = &agentdv1.RunEvent_ContextChange{ContextChange: &agentdv1.ContextChange{Keys: p.Keys, Refused: p.Refused}}
	case *loop.TodoChange:
		m.Event = &agentdv1.RunEvent_TodoChange{TodoChange: &agentdv1.TodoChange{Todos: p.Todos}}
	case *loop.SubRunStarted:
		m.Event = &agentdv1.RunEvent_SubRunStarted{SubRunStarted: &agentdv1.SubRunStarted{CallId: p.CallID, RunId: p.RunID, Prompt: p.Prompt, Agent: p.Agent}}
	case *loop.SubRunWaiting:
		m.Event = &agentdv1.RunEvent_SubRunWaiting{SubRunWaiting: &agentdv1.SubRunWaiting{CallId: p.CallID, RunId: p.RunID, DecisionIds: p.Decisions}}
	case *loop.ModelReplied:
		replied := &agentdv1.ModelReplied{CallId: p.CallID, Tool: p.Tool, Plugin: p.Plugin, Usage: toolpb.FromUsage(p.Usage), Cost: p.Cost}
		if p.Failure != nil {
			replied.Error = toolpb.FromError(p.Failure.AsError(p.CallID))
		}
		m.Event = &agentdv1.RunEvent_ModelReplied{ModelReplied: replied}
	case *loop.StandingApproved:
		m.Event = &agentdv1.RunEvent_StandingApproved{StandingApproved: fromStandingApproved(p)}
	case *loop.RunResumed:
		m.Event = &agentdv1.RunEvent_RunResumed{RunResumed: &agentdv1.RunResumed{BackupTime: toolpb.FromTime(p.Backup)}}
	case *loop.Compacted:
		m.Event = &agentdv1.RunEvent_Compacted{Compacted: &agentdv1.Compacted{
			Reason: p.Reason, ClearedResults: uint32(len(p.Cleared)), Summary: p.Summary, ReplacedMessages: uint32(p.Replaced),
			Overflow: p.Overflow, Failure: p.Failure, Usage: toolpb.FromUsage(p.Usage), Cost: p.Cost,
		}}
	}
}

func fromStarted(p *loop.RunStarted) *agentdv1.RunStarted {
	m := &agentdv1.RunStarted{RunId: p.RunID, Prompt: p.Prompt, Model: p.Model, Session: p.Session, Agent: p.Agent, Sampling: fromSampling(p.Sampling), Traceparent: p.Traceparent, Principal: p.Principal, ResponseSchema: p.ResponseSchema}
	for _, f := range p.Fallbacks {
		m.Fallbacks = append(m.Fallbacks, f.Model)
	}
	m.Attachments = fromAttachments(p.Attachments)
	for _, f := range p.Memory {
		m.MemoryFiles = append(m.MemoryFiles, &agentdv1.MemoryFile{Name: f.Name, Workspace: f.Workspace, Size: uint64(f.Size()), Problem: f.Problem})
	}
	if p.Parent != nil {
		m.ParentRunId, m.ParentCallId = p.Parent.RunID, p.Parent.CallID
	}
	return m
}
