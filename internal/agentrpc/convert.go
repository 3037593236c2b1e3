package agentrpc

import (
	"strings"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/toolpb"
)

func fromRun(r agent.Run) *agentdv1.Run {
	state := agentdv1.RunState_RUN_STATE_RUNNING
	if r.Finished() {
		state = agentdv1.RunState_RUN_STATE_FINISHED
	}
	return &agentdv1.Run{
		RunId: r.ID, Prompt: r.Prompt, Model: r.Model, State: state, StopReason: fromStopReason(r.StopReason),
		StartTime: toolpb.FromTime(r.StartTime), UpdateTime: toolpb.FromTime(r.UpdateTime), LastSeq: r.LastSeq,
		Turns: uint32(r.Turns), Calls: uint32(r.Calls), Usage: toolpb.FromUsage(r.Usage),
	}
}

func fromStopReason(r agent.StopReason) agentdv1.StopReason {
	switch r {
	case agent.StopEndTurn:
		return agentdv1.StopReason_STOP_REASON_END_TURN
	case agent.StopMaxTokens:
		return agentdv1.StopReason_STOP_REASON_MAX_TOKENS
	case agent.StopRefusal:
		return agentdv1.StopReason_STOP_REASON_REFUSAL
	case agent.StopContentFilter:
		return agentdv1.StopReason_STOP_REASON_CONTENT_FILTER
	case agent.StopContextOverflow:
		return agentdv1.StopReason_STOP_REASON_CONTEXT_OVERFLOW
	case agent.StopMaxTurns:
		return agentdv1.StopReason_STOP_REASON_MAX_TURNS
	case agent.StopMaxCalls:
		return agentdv1.StopReason_STOP_REASON_MAX_CALLS
	case agent.StopCancelled:
		return agentdv1.StopReason_STOP_REASON_CANCELLED
	case agent.StopModelError:
		return agentdv1.StopReason_STOP_REASON_MODEL_ERROR
	case agent.StopReturnDirect:
		return agentdv1.StopReason_STOP_REASON_RETURN_DIRECT
	case agent.StopInternalError:
		return agentdv1.StopReason_STOP_REASON_INTERNAL_ERROR
	}
	return agentdv1.StopReason_STOP_REASON_UNSPECIFIED
}

func fromEvent(e agent.Event) *agentdv1.RunEvent {
	m := &agentdv1.RunEvent{Seq: e.Seq, Index: e.Index, Time: toolpb.FromTime(e.Time)}
	switch p := e.Payload.(type) {
	case *agent.RunStarted:
		m.Event = &agentdv1.RunEvent_RunStarted{RunStarted: &agentdv1.RunStarted{RunId: p.RunID, Prompt: p.Prompt, Model: p.Model, Session: p.Session}}
	case *agent.UserMessage:
		m.Event = &agentdv1.RunEvent_UserMessage{UserMessage: &agentdv1.UserMessage{Text: p.Text}}
	case *agent.TextDelta:
		// The one text that comes straight from a provider: all others have been through the journal's JSON.
		m.Event = &agentdv1.RunEvent_TextDelta{TextDelta: &agentdv1.TextDelta{Text: strings.ToValidUTF8(p.Text, "\uFFFD")}}
	case *agent.AssistantMessage:
		m.Event = &agentdv1.RunEvent_AssistantMessage{AssistantMessage: fromAssistant(p)}
	case *agent.CallStarted:
		m.Event = &agentdv1.RunEvent_CallStarted{CallStarted: &agentdv1.CallStarted{CallId: p.CallID, Tool: p.Tool}}
	case *agent.CallStatus:
		m.Event = &agentdv1.RunEvent_CallStatus{CallStatus: &agentdv1.CallStatus{CallId: p.CallID, Tool: p.Tool, Status: toolpb.FromStatus(p.Status)}}
	case *agent.CallResult:
		m.Event = &agentdv1.RunEvent_CallResult{CallResult: fromCallResult(p)}
	case *agent.TurnReset:
		reason := strings.ToValidUTF8(p.Reason, "\uFFFD")
		m.Event = &agentdv1.RunEvent_TurnReset{TurnReset: &agentdv1.TurnReset{Reason: reason, Attempt: uint32(p.Attempt)}}
	case *agent.CancelRequested:
		m.Event = &agentdv1.RunEvent_CancelRequested{CancelRequested: &agentdv1.CancelRequested{Reason: p.Reason}}
	case *agent.RunFinished:
		m.Event = &agentdv1.RunEvent_RunFinished{RunFinished: &agentdv1.RunFinished{
			StopReason: fromStopReason(p.StopReason), Message: p.Message, Text: p.Text,
			Turns: uint32(p.Turns), Calls: uint32(p.Calls), Usage: toolpb.FromUsage(p.Usage),
		}}
	}
	return m
}

func fromAssistant(p *agent.AssistantMessage) *agentdv1.AssistantMessage {
	m := &agentdv1.AssistantMessage{Text: p.Text(), StopReason: string(p.StopReason), Usage: toolpb.FromUsage(p.Usage)}
	for _, c := range p.Calls {
		m.Calls = append(m.Calls, &agentdv1.ToolCall{CallId: c.ID, Tool: c.Tool, Arguments: []byte(c.Arguments)})
	}
	return m
}

func fromCallResult(p *agent.CallResult) *agentdv1.CallResult {
	m := &agentdv1.CallResult{
		CallId: p.CallID, Tool: p.Tool, Result: toolpb.FromResult(p.Result), Plugin: p.Plugin, Instance: p.Instance,
	}
	if p.Failure != nil {
		m.Error = toolpb.FromError(p.Failure.AsError(p.CallID))
	}
	return m
}
