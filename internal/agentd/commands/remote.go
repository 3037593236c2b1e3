package commands

import (
	"context"
	"iter"
	"slices"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/agentd/agent"
	"github.com/toolhost/toolhost/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/internal/agentd/loop"
	"github.com/toolhost/toolhost/internal/wire/agentclient"
)

// runs controls the runs that a command shows. An agent in this process implements it, and so does
// a client of an `agentd serve`.
type runs interface {
	agentserver.Control
	WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[loop.Event, error]
	GetRun(ctx context.Context, runID string) (agent.Run, error)
	ResumeRun(ctx context.Context, runID string) error
}

// localRuns is an agent in this process. Decisions are made in the name of the process's user.
type localRuns struct{ *agent.Agent }

// Respond implements runs.
func (r localRuns) Respond(ctx context.Context, runID string, decisions ...loop.DecisionMade) (uint64, error) {
	decisions = slices.Clone(decisions)
	for i := range decisions {
		decisions[i].Principal = ownPrincipal()
	}
	return r.Agent.Respond(ctx, runID, decisions...)
}

// remoteRuns is a client of an `agentd serve`.
type remoteRuns struct{ client *agentclient.Client }

// StartRun implements runs. The run belongs to the server, also if the task asks for a run in the
// foreground.
func (r remoteRuns) StartRun(ctx context.Context, task loop.Task) (string, error) {
	return r.client.StartRun(ctx, agentserver.FromTask(task))
}

// SendMessage implements runs.
func (r remoteRuns) SendMessage(ctx context.Context, runID, text string, files ...loop.NewAttachment) (uint64, error) {
	return r.client.SendMessage(ctx, runID, text, agentserver.FromNewAttachments(files)...)
}

// Respond implements runs.
func (r remoteRuns) Respond(ctx context.Context, runID string, decisions ...loop.DecisionMade) (uint64, error) {
	by := ""
	made := make([]*agentdv1.Decision, len(decisions))
	for i, d := range decisions {
		m, err := agentserver.FromDecision(d)
		if err != nil {
			return 0, err
		}
		made[i], by = m, d.By
	}
	return r.client.Respond(ctx, runID, by, made...)
}

// CancelRun implements runs.
func (r remoteRuns) CancelRun(ctx context.Context, runID, reason string) error {
	return r.client.CancelRun(ctx, runID, reason)
}

// WatchRun implements runs.
func (r remoteRuns) WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		for m, err := range r.client.WatchRun(ctx, runID, after) {
			if err != nil {
				yield(loop.Event{}, err)
				return
			}
			if e, known := agentserver.ToEvent(m); known && !yield(e, nil) {
				return
			}
		}
	}
}

// GetRun implements runs.
func (r remoteRuns) GetRun(ctx context.Context, runID string) (agent.Run, error) {
	m, err := r.client.GetRun(ctx, runID)
	if err != nil {
		return agent.Run{}, err
	}
	return agentserver.ToRun(m), nil
}

// ResumeRun implements runs. A server resumes its runs itself.
func (r remoteRuns) ResumeRun(context.Context, string) error { return nil }
