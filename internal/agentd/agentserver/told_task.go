package agentserver

import (
	"math"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/agentd/loop"
	"github.com/toolhost/toolhost/internal/agentd/model"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
)

// FromTask returns a task as a message. It leaves out Foreground and Parent, which only runs of the
// same process have.
func FromTask(t loop.Task) *agentdv1.StartRunRequest {
	m := &agentdv1.StartRunRequest{
		Prompt: t.Prompt, RunId: t.RunID, SystemPrompt: t.SystemPrompt, Session: t.Session, Agent: t.Agent, Model: t.Model, Sampling: fromSampling(t.Sampling), Traceparent: t.Traceparent,
		Tools: fromChoice(&t.Tools), Limits: fromLimits(&t.Limits), Context: toolpb.FromValues(t.Context),
		ResponseSchema: t.ResponseSchema,
		Attachments:    FromNewAttachments(t.Attachments),
	}
	if w := t.Window; w != (loop.Window{}) {
		m.Window = &agentdv1.Window{Tokens: unsigned(w.Tokens), ClearAt: w.ClearAt, SummarizeAt: w.SummarizeAt, Keep: small(w.Keep)}
	}
	if t.SystemTools != nil {
		m.SystemTools = &agentdv1.SystemTools{Names: t.SystemTools}
	}
	if t.SubRuns != 0 {
		m.SubRuns = new(small(t.SubRuns))
	}
	if p := t.People; p != nil {
		m.People = &agentdv1.People{Attended: p.Attended, Expiry: fromDuration(p.Expiry), AskOutcome: p.AskOutcome}
	}
	if explicit := t.ExplicitCompletion; explicit != nil {
		m.Completion = agentdv1.Completion_COMPLETION_END_TURN
		if *explicit {
			m.Completion = agentdv1.Completion_COMPLETION_EXPLICIT
		}
	}
	return m
}

// fromSampling returns nil if nothing is set.
func fromSampling(s model.Sampling) *agentdv1.Sampling {
	if s == (model.Sampling{}) {
		return nil
	}
	return &agentdv1.Sampling{Temperature: s.Temperature, TopP: s.TopP, Effort: string(s.Effort)}
}

func fromChoice(c *loop.ToolChoice) *agentdv1.ToolChoice {
	return &agentdv1.ToolChoice{
		Names: c.Names, Categories: c.Categories, Tags: c.Tags, Plugins: c.Plugins, Excluded: c.Excluded, Dangerous: c.Dangerous, MaxCostPerUse: c.MaxCostPerUse, MaxTools: small(c.MaxTools),
	}
}

func fromLimits(l *loop.Limits) *agentdv1.Limits {
	return &agentdv1.Limits{
		MaxTurns: small(l.MaxTurns), MaxCalls: small(l.MaxCalls), MaxResponseTokens: small(l.MaxResponseTokens),
		MaxTokens: unsigned(l.MaxTokens), MaxCost: l.MaxCost, MaxWallTime: fromDuration(l.MaxWallTime), MaxOutput: unsigned(l.MaxOutput),
		MaxFailures: small(l.MaxFailures), MaxTimeouts: small(l.MaxTimeouts), MaxRepeats: small(l.MaxRepeats),
	}
}

// fromDuration returns nil for 0, which means unset.
func fromDuration(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

// small converts a limit to 32 bits. A negative limit becomes 0, which means none or unset.
func small(n int) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }

func unsigned(n int64) uint64 { return uint64(max(n, 0)) }
