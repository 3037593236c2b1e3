package agentserver

import (
	"encoding/json"
	"math"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

func toTask(req *agentdv1.StartRunRequest) loop.Task {
	task := loop.Task{
		Prompt: req.GetPrompt(), RunID: req.GetRunId(), SystemPrompt: req.GetSystemPrompt(), Session: req.GetSession(),
		Agent: req.GetAgent(), Model: req.GetModel(), Sampling: toSampling(req.GetSampling()), Tools: toChoice(req.GetTools()), Limits: toLimits(req.GetLimits()),
		ExplicitCompletion: toCompletion(req), Traceparent: req.GetTraceparent(), ResponseSchema: req.GetResponseSchema(),
		Attachments: toNewAttachments(req.GetAttachments()),
		Window: loop.Window{
			Tokens: bound64(req.GetWindow().GetTokens()), ClearAt: req.GetWindow().GetClearAt(),
			SummarizeAt: req.GetWindow().GetSummarizeAt(), Keep: bound(req.GetWindow().GetKeep()),
		},
	}
	if chosen := req.GetSystemTools(); chosen != nil {
		task.SystemTools = append([]string{}, chosen.GetNames()...)
	}
	if req.SubRuns != nil {
		if task.SubRuns = bound(req.GetSubRuns()); task.SubRuns == 0 {
			task.SubRuns = -1
		}
	}
	if p := req.GetPeople(); p != nil {
		task.People = &loop.People{Attended: p.GetAttended(), Expiry: p.GetExpiry().AsDuration(), AskOutcome: p.GetAskOutcome()}
	}
	for key, value := range req.GetContext() {
		if task.Context == nil {
			task.Context = make(map[string]json.RawMessage, len(req.GetContext()))
		}
		task.Context[key] = value
	}
	return task
}

// fromSampling returns nil if nothing is set.
func fromSampling(s model.Sampling) *agentdv1.Sampling {
	if s == (model.Sampling{}) {
		return nil
	}
	return &agentdv1.Sampling{Temperature: s.Temperature, TopP: s.TopP, Effort: string(s.Effort)}
}

func toSampling(m *agentdv1.Sampling) model.Sampling {
	if m == nil {
		return model.Sampling{}
	}
	return model.Sampling{Temperature: m.Temperature, TopP: m.TopP, Effort: model.Effort(m.GetEffort())}
}

// toCompletion returns whether the run needs a call of attempt_completion, or nil if the request
// leaves that to the agent.
func toCompletion(req *agentdv1.StartRunRequest) *bool {
	switch {
	case req.GetCompletion() == agentdv1.Completion_COMPLETION_EXPLICIT, req.GetExplicitCompletion() && req.GetCompletion() == agentdv1.Completion_COMPLETION_UNSPECIFIED:
		return new(true)
	case req.GetCompletion() == agentdv1.Completion_COMPLETION_END_TURN:
		return new(false)
	}
	return nil
}

func toChoice(c *agentdv1.ToolChoice) loop.ToolChoice {
	if c == nil {
		return loop.ToolChoice{}
	}
	return loop.ToolChoice{
		Names: c.GetNames(), Categories: c.GetCategories(), Tags: c.GetTags(), Plugins: c.GetPlugins(), Excluded: c.GetExcluded(),
		Dangerous: c.Dangerous, MaxCostPerUse: c.MaxCostPerUse, MaxTools: bound(c.GetMaxTools()),
	}
}

func toLimits(l *agentdv1.Limits) loop.Limits {
	return loop.Limits{
		MaxTurns: bound(l.GetMaxTurns()), MaxCalls: bound(l.GetMaxCalls()), MaxResponseTokens: bound(l.GetMaxResponseTokens()),
		MaxTokens: bound64(l.GetMaxTokens()), MaxCost: l.GetMaxCost(), MaxWallTime: l.GetMaxWallTime().AsDuration(),
		MaxOutput: bound64(l.GetMaxOutput()), MaxFailures: bound(l.GetMaxFailures()),
		MaxTimeouts: bound(l.GetMaxTimeouts()), MaxRepeats: bound(l.GetMaxRepeats()),
	}
}

// bound converts a limit to an int of 32 bits. No run reaches the limits that this changes.
func bound(n uint32) int { return int(min(n, math.MaxInt32)) }

func bound64(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

func toDecisions(req *agentdv1.RespondRequest) ([]loop.DecisionMade, error) {
	made := make([]loop.DecisionMade, len(req.GetDecisions()))
	for i, d := range req.GetDecisions() {
		made[i] = loop.DecisionMade{ID: d.GetDecisionId(), By: req.GetDecidedBy()}
		switch v := d.GetVerdict().(type) {
		case *agentdv1.Decision_Approve:
			made[i].Verdict, made[i].Arguments, made[i].Text = loop.VerdictApprove, v.Approve.GetArguments(), v.Approve.GetReason()
			made[i].Standing = toStanding(v.Approve.GetStanding())
		case *agentdv1.Decision_Reject:
			made[i].Verdict, made[i].Text = loop.VerdictReject, v.Reject.GetReason()
		case *agentdv1.Decision_Answer:
			made[i].Verdict, made[i].Text = loop.VerdictAnswer, v.Answer.GetText()
		default:
			return nil, tool.Errorf(tool.KindInvalidArgument, "decision %q has no verdict: approve, reject or answer", d.GetDecisionId())
		}
		if err := checkWords(made[i].Text, made[i].By); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func toQuery(req *agentdv1.ListRunsRequest) (agent.RunQuery, error) {
	query := agent.RunQuery{Size: int(req.GetPageSize()), Token: req.GetPageToken(), Parent: req.GetParentRunId(), Tenants: req.GetTenants()}
	if query.Size < 0 {
		return query, tool.Errorf(tool.KindInvalidArgument, "page_size is %d; use 0 to 500", query.Size)
	}
	for _, state := range req.GetStates() {
		switch state {
		case agentdv1.RunState_RUN_STATE_RUNNING:
			query.States = append(query.States, agent.RunRunning)
		case agentdv1.RunState_RUN_STATE_WAITING:
			query.States = append(query.States, agent.RunWaiting)
		case agentdv1.RunState_RUN_STATE_FINISHED:
			query.States = append(query.States, agent.RunEnded)
		case agentdv1.RunState_RUN_STATE_INTERRUPTED:
			query.States = append(query.States, agent.RunInterrupted)
		default:
			return query, tool.Errorf(tool.KindInvalidArgument, "states has %s; use RUNNING, WAITING, INTERRUPTED and FINISHED", state)
		}
	}
	return query, nil
}
