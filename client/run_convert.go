package client

import (
	"encoding/json"
	"strings"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// enumName returns the name of an enumeration value without its prefix, in lower case; empty for
// UNSPECIFIED.
func enumName(name, prefix string) string {
	name = strings.ToLower(strings.TrimPrefix(name, prefix))
	if name == "unspecified" {
		return ""
	}
	return name
}

func fromTask(t Task) *agentdv1.StartRunRequest {
	m := &agentdv1.StartRunRequest{
		Prompt: t.Prompt, RunId: t.RunID, SystemPrompt: t.SystemPrompt, Session: t.Session, Agent: t.Agent,
		Model: t.Model, Sampling: fromSampling(t.Sampling),
		Context: toolpb.FromValues(t.Context), Traceparent: t.Traceparent, ResponseSchema: t.ResponseSchema,
		Attachments: fromAttachments(t.Attachments),
		Tools: &agentdv1.ToolChoice{
			Names: t.Tools.Names, Categories: t.Tools.Categories, Tags: t.Tools.Tags, Plugins: t.Tools.Plugins, Excluded: t.Tools.Excluded, Dangerous: t.Tools.Dangerous,
			MaxCostPerUse: t.Tools.MaxCostPerUse, MaxTools: count(t.Tools.MaxTools),
		},
		Limits: fromLimits(t.Limits),
		Window: &agentdv1.Window{
			Tokens: uint64(max(t.Window.Tokens, 0)), ClearAt: t.Window.ClearAt, SummarizeAt: t.Window.SummarizeAt, Keep: count(t.Window.Keep),
		},
	}
	switch t.Completion {
	case CompletionExplicit:
		m.Completion = agentdv1.Completion_COMPLETION_EXPLICIT
	case CompletionEndTurn:
		m.Completion = agentdv1.Completion_COMPLETION_END_TURN
	}
	if t.SystemTools != nil {
		m.SystemTools = &agentdv1.SystemTools{Names: t.SystemTools}
	}
	if t.SubRuns != nil {
		m.SubRuns = new(count(*t.SubRuns))
	}
	if p := t.People; p != nil {
		m.People = &agentdv1.People{Attended: p.Attended, Expiry: toolpb.FromDuration(p.Expiry), AskOutcome: p.AskOutcome}
	}
	return m
}

func fromSampling(s Sampling) *agentdv1.Sampling {
	if s == (Sampling{}) {
		return nil
	}
	return &agentdv1.Sampling{Temperature: s.Temperature, TopP: s.TopP, Effort: s.Effort}
}

func toSampling(m *agentdv1.Sampling) Sampling {
	if m == nil {
		return Sampling{}
	}
	return Sampling{Temperature: m.Temperature, TopP: m.TopP, Effort: m.GetEffort()}
}

func fromLimits(l RunLimits) *agentdv1.Limits {
	return &agentdv1.Limits{
		MaxTurns: count(l.Turns), MaxCalls: count(l.Calls), MaxResponseTokens: count(l.ResponseTokens), MaxTokens: uint64(max(l.Tokens, 0)),
		MaxCost: l.Cost, MaxWallTime: toolpb.FromDuration(l.WallTime), MaxOutput: uint64(max(l.Output, 0)),
		MaxFailures: count(l.Failures), MaxTimeouts: count(l.Timeouts), MaxRepeats: count(l.Repeats),
	}
}

func count(n int) uint32 { return uint32(min(max(n, 0), 1<<31-1)) }

func fromDecisions(decisions []Decision) ([]*agentdv1.Decision, error) {
	messages := make([]*agentdv1.Decision, len(decisions))
	for i, d := range decisions {
		m := &agentdv1.Decision{DecisionId: d.ID}
		switch d.Verdict {
		case Approve:
			m.Verdict = &agentdv1.Decision_Approve{Approve: &agentdv1.Approve{Arguments: d.Arguments, Reason: d.Text, Standing: fromStanding(d.Standing)}}
		case Reject:
			m.Verdict = &agentdv1.Decision_Reject{Reject: &agentdv1.Reject{Reason: d.Text}}
		case Answer:
			m.Verdict = &agentdv1.Decision_Answer{Answer: &agentdv1.Answer{Text: d.Text}}
		default:
			return nil, tool.Errorf(tool.KindInvalidArgument, "the decision %q has the verdict %q; use approve, reject or answer", d.ID, d.Verdict)
		}
		messages[i] = m
	}
	return messages, nil
}

func fromRunFilter(f RunFilter) (*agentdv1.ListRunsRequest, error) {
	m := &agentdv1.ListRunsRequest{ParentRunId: f.ParentRunID, Tenants: f.Tenants}
	for _, state := range f.States {
		number := agentdv1.RunState_value["RUN_STATE_"+strings.ToUpper(string(state))]
		if number == 0 {
			return nil, tool.Errorf(tool.KindInvalidArgument, "there is no run state %q", state)
		}
		m.States = append(m.States, agentdv1.RunState(number))
	}
	return m, nil
}

func toRun(m *agentdv1.Run) Run {
	r := Run{
		ID: m.GetRunId(), Prompt: m.GetPrompt(), Model: m.GetModel(), State: RunState(enumName(m.GetState().String(), "RUN_STATE_")),
		StopReason: toStopReason(m.GetStopReason()), Interrupted: m.GetInterrupted(),
		Started: toolpb.ToTime(m.GetStartTime()), Updated: toolpb.ToTime(m.GetUpdateTime()), LastSeq: m.GetLastSeq(),
		Turns: int(m.GetTurns()), Calls: int(m.GetCalls()), Usage: toolpb.ToUsage(m.GetUsage()), Cost: m.GetCost(), ParentRunID: m.GetParentRunId(),
		ParentCallID: m.GetParentCallId(), Foreground: m.GetForeground(), Parked: m.GetParked(),
	}
	if s := m.GetSettlements(); s != nil {
		r.Settlements = Settlements{Happened: int(s.GetHappened()), Repeated: int(s.GetRepeated()), Unknown: int(s.GetUnknown())}
	}
	for _, p := range m.GetPendingDecisions() {
		r.Pending = append(r.Pending, toPending(p))
	}
	return r
}

func toStopReason(r agentdv1.StopReason) StopReason {
	return StopReason(enumName(r.String(), "STOP_REASON_"))
}

func toPending(m *agentdv1.PendingDecision) PendingDecision {
	return PendingDecision{
		ID: m.GetDecisionId(), Kind: DecisionKind(enumName(m.GetKind().String(), "DECISION_KIND_")), CallID: m.GetCallId(), Tool: m.GetTool(),
		DisplayName: m.GetDisplayName(), Arguments: m.GetArguments(), Reason: m.GetReason(), Options: m.GetOptions(), Rule: m.GetRule(),
		Requested: toolpb.ToTime(m.GetRequestTime()), Expires: toolpb.ToTime(m.GetExpireTime()), RunID: m.GetRunId(),
		FourEyes: m.GetFourEyes(), ApproverGroups: m.GetApproverGroups(), Plugin: m.GetPlugin(), Schema: m.GetSchema(), Diff: m.GetDiff(),
		StandingOffers: toOffers(m.GetStandingOffers()),
	}
}

// eventKinds is the field of RunEvent with the kinds of events.
var eventKinds = (*agentdv1.RunEvent)(nil).ProtoReflect().Descriptor().Oneofs().ByName("event")

// toRunEvent converts an event. Payload is nil if this version does not know the type of the event.
func toRunEvent(m *agentdv1.RunEvent) RunEvent {
	e := RunEvent{Seq: m.GetSeq(), Index: m.GetIndex(), Time: toolpb.ToTime(m.GetTime()), Payload: toRunPayload(m)}
	if kind := m.ProtoReflect().WhichOneof(eventKinds); kind != nil {
		e.Type = string(kind.Name())
	}
	return e
}

func toRunPayload(m *agentdv1.RunEvent) RunPayload {
	switch e := m.GetEvent().(type) {
	case *agentdv1.RunEvent_RunStarted:
		s := e.RunStarted
		return &RunStarted{
			RunID: s.GetRunId(), Prompt: s.GetPrompt(), Model: s.GetModel(), Session: s.GetSession(), Agent: s.GetAgent(),
			Fallbacks: s.GetFallbacks(), Sampling: toSampling(s.GetSampling()),
			ParentRunID: s.GetParentRunId(), ParentCallID: s.GetParentCallId(), Traceparent: s.GetTraceparent(),
			ResponseSchema: s.GetResponseSchema(),
			Attachments:    toAttachmentInfos(s.GetAttachments()),
			MemoryFiles:    toMemoryFiles(s.GetMemoryFiles()),
		}
	case *agentdv1.RunEvent_UserMessage:
		return &UserMessage{Text: e.UserMessage.GetText(), Attachments: toAttachmentInfos(e.UserMessage.GetAttachments())}
	case *agentdv1.RunEvent_TextDelta:
		return &TextDelta{Text: e.TextDelta.GetText()}
	case *agentdv1.RunEvent_ReasoningDelta:
		return &ReasoningDelta{Text: e.ReasoningDelta.GetText()}
	case *agentdv1.RunEvent_ArgumentDelta:
		return &ArgumentDelta{CallID: e.ArgumentDelta.GetCallId(), Tool: e.ArgumentDelta.GetTool(), Text: e.ArgumentDelta.GetText()}
	case *agentdv1.RunEvent_AnswerDelta:
		return &AnswerDelta{Answer: e.AnswerDelta.GetAnswer()}
	case *agentdv1.RunEvent_AssistantMessage:
		return toAssistantMessage(e.AssistantMessage)
	case *agentdv1.RunEvent_TurnReset:
		return &TurnReset{Reason: e.TurnReset.GetReason(), Attempt: int(e.TurnReset.GetAttempt()), Model: e.TurnReset.GetModel()}
	case *agentdv1.RunEvent_CancelRequested:
		return &CancelRequested{Reason: e.CancelRequested.GetReason(), StopReason: toStopReason(e.CancelRequested.GetStopReason())}
	case *agentdv1.RunEvent_DecisionRequested:
		return &DecisionRequested{Decision: toPending(e.DecisionRequested.GetDecision())}
	case *agentdv1.RunEvent_DecisionMade:
		d := e.DecisionMade
		return &DecisionMade{
			ID: d.GetDecisionId(), Verdict: Verdict(enumName(d.GetVerdict().String(), "VERDICT_")), Text: d.GetText(),
			Arguments: d.GetArguments(), DecidedBy: d.GetDecidedBy(), Principal: d.GetPrincipal(), Standing: toStanding(d.GetStanding()),
		}
	case *agentdv1.RunEvent_RunFinished:
		f := e.RunFinished
		return &RunEnded{
			StopReason: toStopReason(f.GetStopReason()), Message: f.GetMessage(), Text: f.GetText(), Turns: int(f.GetTurns()),
			Calls: int(f.GetCalls()), Usage: toolpb.ToUsage(f.GetUsage()), Cost: f.GetCost(), Result: f.GetResult(),
		}
	case *agentdv1.RunEvent_RunResumed:
		return &RunResumed{Backup: toolpb.ToTime(e.RunResumed.GetBackupTime())}
	}
	return toCallPayload(m)
}

// toCallPayload converts the events of calls and their consequences.
func toCallPayload(m *agentdv1.RunEvent) RunPayload {
	switch e := m.GetEvent().(type) {
	case *agentdv1.RunEvent_CallStarted:
		s := e.CallStarted
		return &CallStarted{
			CallID: s.GetCallId(), Tool: s.GetTool(), Attempt: int(s.GetAttempt()), Traceparent: s.GetTraceparent(), LedgerID: s.GetLedgerId(),
		}
	case *agentdv1.RunEvent_CallStatus:
		return &CallStatus{CallID: e.CallStatus.GetCallId(), Tool: e.CallStatus.GetTool(), Status: toolpb.ToStatus(e.CallStatus.GetStatus())}
	case *agentdv1.RunEvent_CallResult:
		return toCallResult(e.CallResult)
	case *agentdv1.RunEvent_BudgetWarning:
		return &BudgetWarning{Budget: e.BudgetWarning.GetBudget(), Used: e.BudgetWarning.GetUsed(), Limit: e.BudgetWarning.GetLimit()}
	case *agentdv1.RunEvent_ContextChange:
		return &ContextChange{Keys: e.ContextChange.GetKeys(), Refused: e.ContextChange.GetRefused()}
	case *agentdv1.RunEvent_TodoChange:
		return &TodoChange{Todos: json.RawMessage(e.TodoChange.GetTodos())}
	case *agentdv1.RunEvent_SubRunStarted:
		s := e.SubRunStarted
		return &SubRunStarted{CallID: s.GetCallId(), RunID: s.GetRunId(), Prompt: s.GetPrompt(), Agent: s.GetAgent()}
	case *agentdv1.RunEvent_ModelReplied:
		r := e.ModelReplied
		replied := &ModelReplied{CallID: r.GetCallId(), Tool: r.GetTool(), Plugin: r.GetPlugin(), Usage: toolpb.ToUsage(r.GetUsage()), Cost: r.GetCost()}
		if r.GetError() != nil {
			replied.Err = toolpb.ToError(r.GetError())
		}
		return replied
	case *agentdv1.RunEvent_StandingApproved:
		s := e.StandingApproved
		approved := &StandingApproved{
			DecisionID: s.GetDecisionId(), CallID: s.GetCallId(), Tool: s.GetTool(), ApprovalID: s.GetApprovalId(), Approver: s.GetApprover(), Expires: toolpb.ToTime(s.GetExpireTime()),
		}
		if s.GetError() != nil {
			approved.Err = toolpb.ToError(s.GetError())
		}
		return approved
	case *agentdv1.RunEvent_DecisionExtended:
		x := e.DecisionExtended
		return &DecisionExtended{ID: x.GetDecisionId(), Expires: toolpb.ToTime(x.GetExpireTime()), Principal: x.GetPrincipal()}
	case *agentdv1.RunEvent_SubRunWaiting:
		s := e.SubRunWaiting
		return &SubRunWaiting{CallID: s.GetCallId(), RunID: s.GetRunId(), DecisionIDs: s.GetDecisionIds()}
	case *agentdv1.RunEvent_Compacted:
		c := e.Compacted
		return &Compacted{
			Reason: c.GetReason(), ClearedResults: int(c.GetClearedResults()), Summary: c.GetSummary(), ReplacedMessages: int(c.GetReplacedMessages()),
			Overflow: c.GetOverflow(), Failure: c.GetFailure(), Usage: toolpb.ToUsage(c.GetUsage()), Cost: c.GetCost(),
		}
	}
	return nil
}

func toAssistantMessage(m *agentdv1.AssistantMessage) *AssistantMessage {
	out := &AssistantMessage{
		Text: m.GetText(), StopReason: m.GetStopReason(), Usage: toolpb.ToUsage(m.GetUsage()),
		WastedUsage: toolpb.ToUsage(m.GetWastedUsage()), Cost: m.GetCost(), Model: m.GetModel(),
	}
	for _, c := range m.GetCalls() {
		out.Calls = append(out.Calls, ToolCall{CallID: c.GetCallId(), Tool: c.GetTool(), Arguments: c.GetArguments()})
	}
	return out
}

func toCallResult(m *agentdv1.CallResult) *CallResult {
	out := &CallResult{
		CallID: m.GetCallId(), Tool: m.GetTool(), Result: toolpb.ToResult(m.GetResult()), Plugin: m.GetPlugin(), Instance: m.GetInstance(),
		Answer: m.GetAnswer(), Settled: hostpb.ToSettled(m.GetSettled()),
	}
	if m.GetError() != nil {
		out.Err = toolpb.ToError(m.GetError())
	}
	return out
}

func toConfigurationChange(m *agentdv1.ConfigurationChange) tool.ConfigurationChange {
	c := tool.ConfigurationChange{File: m.GetFile(), Problem: m.GetProblem()}
	for _, s := range m.GetChanges() {
		c.Changes = append(c.Changes, tool.SettingChange{Key: s.GetKey(), Old: s.GetOld(), New: s.GetNew(), Restart: s.GetRestart()})
	}
	return c
}

func toMemoryFiles(list []*agentdv1.MemoryFile) (files []MemoryFileInfo) {
	for _, f := range list {
		files = append(files, MemoryFileInfo{Name: f.GetName(), Workspace: f.GetWorkspace(), Size: int64(f.GetSize()), Problem: f.GetProblem()})
	}
	return files
}
