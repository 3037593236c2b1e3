package agentserver

import (
	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

func fromRun(r agent.Run) *agentdv1.Run {
	m := &agentdv1.Run{
		RunId: r.ID, Prompt: r.Prompt, Model: r.Model, State: fromState(r.State()), StopReason: fromStopReason(r.StopReason),
		StartTime: toolpb.FromTime(r.StartTime), UpdateTime: toolpb.FromTime(r.UpdateTime), LastSeq: r.LastSeq,
		Turns: uint32(r.Turns), Calls: uint32(r.Calls), Usage: toolpb.FromUsage(r.Usage), Cost: r.Cost, Interrupted: r.Interrupted, Principal: r.Principal,
		Foreground: r.Foreground, Parked: r.Parked,
	}
	if s := r.Settled; s != (loop.Settlements{}) {
		m.Settlements = &agentdv1.Settlements{Happened: uint32(s.Happened), Repeated: uint32(s.Repeated), Unknown: uint32(s.Unknown)}
	}
	for i := range r.Pending {
		m.PendingDecisions = append(m.PendingDecisions, fromPending(&r.Pending[i]))
	}
	if r.Parent != nil {
		m.ParentRunId, m.ParentCallId = r.Parent.RunID, r.Parent.CallID
	}
	return m
}

func fromState(s agent.RunState) agentdv1.RunState {
	switch s {
	case agent.RunWaiting:
		return agentdv1.RunState_RUN_STATE_WAITING
	case agent.RunEnded:
		return agentdv1.RunState_RUN_STATE_FINISHED
	case agent.RunInterrupted:
		return agentdv1.RunState_RUN_STATE_INTERRUPTED
	case agent.RunRunning:
		return agentdv1.RunState_RUN_STATE_RUNNING
	}
	return agentdv1.RunState_RUN_STATE_UNSPECIFIED
}

func fromStopReason(r loop.StopReason) agentdv1.StopReason {
	switch r {
	case loop.StopEndTurn:
		return agentdv1.StopReason_STOP_REASON_END_TURN
	case loop.StopMaxTokens:
		return agentdv1.StopReason_STOP_REASON_MAX_TOKENS
	case loop.StopRefusal:
		return agentdv1.StopReason_STOP_REASON_REFUSAL
	case loop.StopContentFilter:
		return agentdv1.StopReason_STOP_REASON_CONTENT_FILTER
	case loop.StopContextOverflow:
		return agentdv1.StopReason_STOP_REASON_CONTEXT_OVERFLOW
	case loop.StopMaxTurns:
		return agentdv1.StopReason_STOP_REASON_MAX_TURNS
	case loop.StopMaxCalls:
		return agentdv1.StopReason_STOP_REASON_MAX_CALLS
	case loop.StopCancelled:
		return agentdv1.StopReason_STOP_REASON_CANCELLED
	case loop.StopModelError:
		return agentdv1.StopReason_STOP_REASON_MODEL_ERROR
	case loop.StopReturnDirect:
		return agentdv1.StopReason_STOP_REASON_RETURN_DIRECT
	case loop.StopInternalError:
		return agentdv1.StopReason_STOP_REASON_INTERNAL_ERROR
	case loop.StopCompleted:
		return agentdv1.StopReason_STOP_REASON_COMPLETED
	case loop.StopTokenBudget:
		return agentdv1.StopReason_STOP_REASON_TOKEN_BUDGET
	case loop.StopCostBudget:
		return agentdv1.StopReason_STOP_REASON_COST_BUDGET
	case loop.StopWallTime:
		return agentdv1.StopReason_STOP_REASON_WALL_TIME
	case loop.StopOutputSize:
		return agentdv1.StopReason_STOP_REASON_OUTPUT_SIZE
	case loop.StopFailures:
		return agentdv1.StopReason_STOP_REASON_FAILURES
	case loop.StopTimeouts:
		return agentdv1.StopReason_STOP_REASON_TIMEOUTS
	case loop.StopRepetition:
		return agentdv1.StopReason_STOP_REASON_REPETITION
	case loop.StopNoToolCalls:
		return agentdv1.StopReason_STOP_REASON_NO_TOOL_CALLS
	case loop.StopInvalidAnswer:
		return agentdv1.StopReason_STOP_REASON_INVALID_ANSWER
	case loop.StopEmptyResponse:
		return agentdv1.StopReason_STOP_REASON_EMPTY_RESPONSE
	case loop.StopCallAsText:
		return agentdv1.StopReason_STOP_REASON_CALL_AS_TEXT
	}
	return agentdv1.StopReason_STOP_REASON_UNSPECIFIED
}

func fromAssistant(p *loop.AssistantMessage) *agentdv1.AssistantMessage {
	m := &agentdv1.AssistantMessage{Text: p.Text(), StopReason: string(p.StopReason), Usage: toolpb.FromUsage(p.Usage), Cost: p.Cost, Model: p.Model}
	if p.Wasted != (tool.Usage{}) {
		m.WastedUsage = toolpb.FromUsage(p.Wasted)
	}
	for _, c := range p.Calls {
		m.Calls = append(m.Calls, &agentdv1.ToolCall{CallId: c.ID, Tool: c.Tool, Arguments: []byte(c.Arguments)})
	}
	return m
}

func fromCallResult(p *loop.CallResult) *agentdv1.CallResult {
	m := &agentdv1.CallResult{
		CallId: p.CallID, Tool: p.Tool, Result: toolpb.FromResult(p.Result), Plugin: p.Plugin, Instance: p.Instance,
		Answer: p.Answer, Settled: hostpb.FromSettled(p.Settled),
	}
	if p.Failure != nil {
		m.Error = toolpb.FromError(p.Failure.AsError(p.CallID))
	}
	return m
}
