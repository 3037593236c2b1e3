package agentserver

import (
	"fmt"
	"strings"
	"time"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/agentd/agent"
	"github.com/toolhost/toolhost/internal/agentd/loop"
	"github.com/toolhost/toolhost/internal/agentd/model"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// ToEvent returns the event of a message, without data that only the server needs. For cleared
// results, the message contains only their number, so their ids are empty. It returns false for an
// event of a newer server that is unknown here.
func ToEvent(m *agentdv1.RunEvent) (loop.Event, bool) {
	e := loop.Event{Seq: m.GetSeq(), Index: m.GetIndex(), Time: toolpb.ToTime(m.GetTime())}
	switch p := m.GetEvent().(type) {
	case *agentdv1.RunEvent_RunStarted:
		e.Payload = toStarted(p.RunStarted)
	case *agentdv1.RunEvent_UserMessage:
		e.Payload = &loop.UserMessage{Text: p.UserMessage.GetText(), Attachments: toAttachments(p.UserMessage.GetAttachments())}
	case *agentdv1.RunEvent_TextDelta:
		e.Payload = &loop.TextDelta{Text: p.TextDelta.GetText()}
	case *agentdv1.RunEvent_ReasoningDelta:
		e.Payload = &loop.ReasoningDelta{Text: p.ReasoningDelta.GetText()}
	case *agentdv1.RunEvent_ArgumentDelta:
		d := p.ArgumentDelta
		e.Payload = &loop.ArgumentDelta{CallID: d.GetCallId(), Tool: d.GetTool(), Text: d.GetText()}
	case *agentdv1.RunEvent_AnswerDelta:
		e.Payload = &loop.AnswerDelta{Answer: p.AnswerDelta.GetAnswer()}
	case *agentdv1.RunEvent_AssistantMessage:
		e.Payload = toAssistant(p.AssistantMessage)
	case *agentdv1.RunEvent_TurnReset:
		e.Payload = &loop.TurnReset{Reason: p.TurnReset.GetReason(), Attempt: int(p.TurnReset.GetAttempt()), Model: p.TurnReset.GetModel()}
	case *agentdv1.RunEvent_CancelRequested:
		e.Payload = &loop.CancelRequested{Reason: p.CancelRequested.GetReason(), Stop: loop.StopReason(word(p.CancelRequested.GetStopReason(), "STOP_REASON_"))}
	case *agentdv1.RunEvent_RunFinished:
		e.Payload = toFinished(p.RunFinished)
	case *agentdv1.RunEvent_DecisionRequested:
		requested := toPending(p.DecisionRequested.GetDecision()).DecisionRequested
		e.Payload = &requested
	case *agentdv1.RunEvent_DecisionMade:
		e.Payload = &loop.DecisionMade{
			ID: p.DecisionMade.GetDecisionId(), Verdict: loop.Verdict(word(p.DecisionMade.GetVerdict(), "VERDICT_")),
			Arguments: p.DecisionMade.GetArguments(), Text: p.DecisionMade.GetText(), By: p.DecisionMade.GetDecidedBy(), Principal: p.DecisionMade.GetPrincipal(),
			Standing: toStanding(p.DecisionMade.GetStanding()),
		}
	default:
		e.Payload = toCallEvent(m)
	}
	return e, e.Payload != nil
}

// toCallEvent returns the payload of an event about a call, or of one that follows from calls. It
// returns nil for others.
func toCallEvent(m *agentdv1.RunEvent) loop.Payload {
	switch p := m.GetEvent().(type) {
	case *agentdv1.RunEvent_CallStarted:
		c := p.CallStarted
		return &loop.CallStarted{CallID: c.GetCallId(), Tool: c.GetTool(), Attempt: int(c.GetAttempt()), Traceparent: c.GetTraceparent(), Ledger: c.GetLedgerId()}
	case *agentdv1.RunEvent_CallStatus:
		return &loop.CallStatus{CallID: p.CallStatus.GetCallId(), Tool: p.CallStatus.GetTool(), Status: toolpb.ToStatus(p.CallStatus.GetStatus())}
	case *agentdv1.RunEvent_CallResult:
		return toCallResult(p.CallResult)
	case *agentdv1.RunEvent_BudgetWarning:
		return &loop.BudgetWarning{Budget: loop.Budget(p.BudgetWarning.GetBudget()), Used: p.BudgetWarning.GetUsed(), Limit: p.BudgetWarning.GetLimit()}
	case *agentdv1.RunEvent_ContextChange:
		return &loop.ContextChange{Keys: p.ContextChange.GetKeys(), Refused: p.ContextChange.GetRefused()}
	case *agentdv1.RunEvent_TodoChange:
		return &loop.TodoChange{Todos: p.TodoChange.GetTodos()}
	case *agentdv1.RunEvent_SubRunStarted:
		return &loop.SubRunStarted{CallID: p.SubRunStarted.GetCallId(), RunID: p.SubRunStarted.GetRunId(), Prompt: p.SubRunStarted.GetPrompt(), Agent: p.SubRunStarted.GetAgent()}
	case *agentdv1.RunEvent_ModelReplied:
		return toModelReplied(p.ModelReplied)
	case *agentdv1.RunEvent_StandingApproved:
		return toStandingApproved(p.StandingApproved)
	case *agentdv1.RunEvent_SubRunWaiting:
		w := p.SubRunWaiting
		return &loop.SubRunWaiting{CallID: w.GetCallId(), RunID: w.GetRunId(), Decisions: w.GetDecisionIds()}
	case *agentdv1.RunEvent_RunResumed:
		return &loop.RunResumed{}
	case *agentdv1.RunEvent_Compacted:
		c := p.Compacted
		return &loop.Compacted{
			Reason: c.GetReason(), Cleared: make([]string, c.GetClearedResults()), Summary: c.GetSummary(), Replaced: int(c.GetReplacedMessages()),
			Overflow: c.GetOverflow(), Failure: c.GetFailure(), Usage: toolpb.ToUsage(c.GetUsage()), Cost: c.GetCost(),
		}
	}
	return nil
}

func toStarted(m *agentdv1.RunStarted) *loop.RunStarted {
	p := &loop.RunStarted{
		RunID: m.GetRunId(), Prompt: m.GetPrompt(), Model: m.GetModel(), Session: m.GetSession(), Agent: m.GetAgent(), Sampling: toSampling(m.GetSampling()), Traceparent: m.GetTraceparent(), Principal: m.GetPrincipal(),
		ResponseSchema: m.GetResponseSchema(),
		Attachments:    toAttachments(m.GetAttachments()),
	}
	for _, name := range m.GetFallbacks() {
		p.Fallbacks = append(p.Fallbacks, loop.RunModel{Model: name})
	}
	for _, f := range m.GetMemoryFiles() {
		p.Memory = append(p.Memory, loop.Memory{Name: f.GetName(), Workspace: f.GetWorkspace(), ToldSize: int64(f.GetSize()), Problem: f.GetProblem()})
	}
	if m.GetParentRunId() != "" {
		p.Parent = &loop.Parent{RunID: m.GetParentRunId(), CallID: m.GetParentCallId()}
	}
	return p
}

func toAssistant(m *agentdv1.AssistantMessage) *loop.AssistantMessage {
	p := &loop.AssistantMessage{StopReason: model.StopReason(m.GetStopReason()), Usage: toolpb.ToUsage(m.GetUsage()), Wasted: toolpb.ToUsage(m.GetWastedUsage()), Cost: m.GetCost(), Model: m.GetModel()}
	p.Message.Role = model.RoleAssistant
	if m.GetText() != "" {
		p.Message.Blocks = []model.Block{{Text: &model.Text{Text: m.GetText()}}}
	}
	for _, c := range m.GetCalls() {
		p.Calls = append(p.Calls, loop.Call{ID: c.GetCallId(), Tool: c.GetTool(), Arguments: string(c.GetArguments())})
	}
	return p
}

func toCallResult(m *agentdv1.CallResult) *loop.CallResult {
	p := &loop.CallResult{
		CallID: m.GetCallId(), Tool: m.GetTool(), Result: toolpb.ToResult(m.GetResult()), Plugin: m.GetPlugin(), Instance: m.GetInstance(),
	}
	if m.GetError() != nil {
		e := toolpb.ToError(m.GetError())
		p.Failure = &loop.Failure{
			Kind: e.Kind, Message: e.Message, RetryAfterMS: e.RetryAfter.Milliseconds(), Plugin: e.Plugin, Instance: e.Instance, Exit: e.Exit, Rule: e.Rule, FourEyes: e.FourEyes,
		}
	}
	return p
}

// toModelReplied returns what an event tells of the reply of a model, which is not the reply itself.
func toModelReplied(m *agentdv1.ModelReplied) *loop.ModelReplied {
	p := &loop.ModelReplied{CallID: m.GetCallId(), Tool: m.GetTool(), Plugin: m.GetPlugin(), Usage: toolpb.ToUsage(m.GetUsage()), Cost: m.GetCost()}
	if m.GetError() != nil {
		e := toolpb.ToError(m.GetError())
		p.Failure = &loop.Failure{Kind: e.Kind, Message: e.Message}
	}
	return p
}

func toFinished(m *agentdv1.RunFinished) *loop.RunFinished {
	return &loop.RunFinished{
		StopReason: loop.StopReason(word(m.GetStopReason(), "STOP_REASON_")), Message: m.GetMessage(), Text: m.GetText(),
		Turns: int(m.GetTurns()), Calls: int(m.GetCalls()), Usage: toolpb.ToUsage(m.GetUsage()), Cost: m.GetCost(),
		Result: m.GetResult(),
	}
}

// toPending returns a pending decision.
func toPending(m *agentdv1.PendingDecision) loop.Pending {
	p := loop.Pending{
		DecisionRequested: loop.DecisionRequested{
			ID: m.GetDecisionId(), Kind: loop.DecisionKind(word(m.GetKind(), "DECISION_KIND_")), CallID: m.GetCallId(), Tool: m.GetTool(),
			Reason: m.GetReason(), Options: m.GetOptions(), Rule: m.GetRule(), DisplayName: m.GetDisplayName(), FourEyes: m.GetFourEyes(),
		},
		RunID: m.GetRunId(), Arguments: string(m.GetArguments()), Requested: toolpb.ToTime(m.GetRequestTime()), Expires: toolpb.ToTime(m.GetExpireTime()),
	}
	if p.Kind == loop.DecideApproval {
		p.Final, p.Schema, p.Diff = m.GetArguments(), m.GetSchema(), m.GetDiff()
		p.Offers = ToOffers(m.GetStandingOffers())
	}
	if p.Kind == loop.DecideTool {
		p.Question = &loop.ToolQuestion{Plugin: m.GetPlugin(), Schema: m.GetSchema()}
	}
	if m.GetExpireTime() != nil {
		p.Expiry = max(time.Nanosecond, p.Expires.Sub(p.Requested))
	}
	return p
}

// ToRun returns a run's summary.
func ToRun(m *agentdv1.Run) agent.Run {
	r := agent.Run{
		ID: m.GetRunId(), Prompt: m.GetPrompt(), Model: m.GetModel(), StopReason: loop.StopReason(word(m.GetStopReason(), "STOP_REASON_")),
		StartTime: toolpb.ToTime(m.GetStartTime()), UpdateTime: toolpb.ToTime(m.GetUpdateTime()), LastSeq: m.GetLastSeq(),
		Turns: int(m.GetTurns()), Calls: int(m.GetCalls()), Usage: toolpb.ToUsage(m.GetUsage()), Cost: m.GetCost(),
		Waiting: m.GetState() == agentdv1.RunState_RUN_STATE_WAITING, Interrupted: m.GetInterrupted(),
	}
	if r.StopReason == "" && m.GetState() == agentdv1.RunState_RUN_STATE_FINISHED {
		r.StopReason = "unknown" // unknown to this version
	}
	for _, p := range m.GetPendingDecisions() {
		r.Pending = append(r.Pending, toPending(p))
	}
	if m.GetParentRunId() != "" {
		r.Parent = &loop.Parent{RunID: m.GetParentRunId()}
	}
	return r
}

// FromDecision returns a decision as a message. It fails for an expired decision, which only the
// agent makes.
func FromDecision(d loop.DecisionMade) (*agentdv1.Decision, error) {
	m := &agentdv1.Decision{DecisionId: d.ID}
	switch d.Verdict {
	case loop.VerdictApprove:
		m.Verdict = &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{Arguments: d.Arguments, Reason: d.Text, Standing: FromStanding(d.Standing)}}
	case loop.VerdictReject:
		m.Verdict = &agentdv1.Decision_Reject{Reject: &agentdv1.Reject{Reason: d.Text}}
	case loop.VerdictAnswer:
		m.Verdict = &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: d.Text}}
	default:
		return nil, tool.Errorf(tool.KindInvalidArgument, "decision %s: %q is not a verdict", d.ID, d.Verdict)
	}
	return m, nil
}

// word returns an enum's name without the prefix, in lower case. It is empty if the value is not
// set or unknown here.
func word(value fmt.Stringer, prefix string) string {
	name, ok := strings.CutPrefix(value.String(), prefix)
	if !ok || name == "UNSPECIFIED" {
		return ""
	}
	return strings.ToLower(name)
}
