package client

import (
	"context"
	"iter"
	"os"

	"github.com/toolhost/toolhost/internal/wire/agentclient"
	"github.com/toolhost/toolhost/tool"
)

// AgentClient is a client of one agentd, which runs LLM agents. It connects with the first RPC, and
// again after a lost connection. Errors are *tool.Error. All methods are safe for concurrent use.
type AgentClient struct{ rpc *agentclient.Client }

// DialAgent returns a client of the agentd at addr, as Dial does for a toolhost. The environment
// variables begin with AGENTD_. The caller must call Close.
func DialAgent(addr string, options ...DialOption) (*AgentClient, error) {
	at, with, err := find(addr, "agentd", options)
	if err != nil {
		return nil, err
	}
	rpc, err := agentclient.New(at, with, os.Getenv)
	if err != nil {
		return nil, err
	}
	return &AgentClient{rpc}, nil
}

// Addr returns the address of the agentd.
func (a *AgentClient) Addr() string { return a.rpc.Addr() }

// Close closes the connection; RPCs and watches on it fail. It may be called more than once.
func (a *AgentClient) Close() error { return a.rpc.Close() }

// Version returns the version of the agentd.
func (a *AgentClient) Version(ctx context.Context) (tool.VersionInfo, error) {
	return a.rpc.Version(ctx)
}

// WhoAmI returns how the agentd identified this client, and what the client may do. Every client
// that the agentd has identified may ask.
func (a *AgentClient) WhoAmI(ctx context.Context) (tool.CallerInfo, error) {
	return a.rpc.WhoAmI(ctx)
}

// StartRun starts a run and returns its id at once. If a run with the same id exists that began with
// the same task, it returns that run. Errors: invalid_argument, also for an unknown agent or model;
// conflict if a run with the same id exists that began with another task.
func (a *AgentClient) StartRun(ctx context.Context, task Task) (runID string, err error) {
	return a.rpc.StartRun(ctx, fromTask(task))
}

// SendMessage adds a user message to a run and returns the sequence number of its event. A finished
// run continues with the message. Errors: not_found; invalid_argument if the model of the run does not
// read an attachment.
func (a *AgentClient) SendMessage(ctx context.Context, runID, text string, attachments ...Attachment) (seq uint64, err error) {
	return a.rpc.SendMessage(ctx, runID, text, fromAttachments(attachments)...)
}

// Respond makes decisions that a run waits for, either all or none, and returns the sequence number
// of the first one's event. Run.Pending and the event DecisionRequested list the pending decisions.
// by is the name of the person who decides; it may be empty. Errors: not_found if the run does not
// exist or a decision is not pending; invalid_argument if a verdict does not fit the kind of
// decision.
func (a *AgentClient) Respond(ctx context.Context, runID, by string, decisions ...Decision) (seq uint64, err error) {
	messages, err := fromDecisions(decisions)
	if err != nil {
		return 0, err
	}
	return a.rpc.Respond(ctx, runID, by, messages...)
}

// WatchRun returns the events of a run: first those after the sequence number after (0: all) that
// the journal contains, then new ones, until the run has finished. An error is the last element; to
// continue, call WatchRun again with the Seq of the last durable event. Leaving the loop or
// canceling ctx ends the watch, not the run. Events of a kind that this version does not know are
// skipped. Errors: not_found.
func (a *AgentClient) WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[RunEvent, error] {
	return func(yield func(RunEvent, error) bool) {
		for m, err := range a.rpc.WatchRun(ctx, runID, after) {
			if err != nil {
				yield(RunEvent{}, err)
				return
			}
			event := toRunEvent(m)
			if event.Payload != nil && !yield(event, nil) {
				return
			}
		}
	}
}

// CancelRun stops a run. Its last event reports the end. reason may be empty. Errors: not_found.
func (a *AgentClient) CancelRun(ctx context.Context, runID, reason string) error {
	return a.rpc.CancelRun(ctx, runID, reason)
}

// DeleteRun deletes a finished run with its sub-runs, and returns their ids, its own first. No run can
// have their ids again: StartRun with one of them is a conflict. Errors: not_found; conflict if one of
// them, or a run of which it is a sub-run, has not finished.
func (a *AgentClient) DeleteRun(ctx context.Context, runID string) ([]string, error) {
	return a.rpc.DeleteRun(ctx, runID)
}

// GetRun returns the summary of a run, with the pending decisions of the run and its sub-runs.
// Errors: not_found.
func (a *AgentClient) GetRun(ctx context.Context, runID string) (Run, error) {
	m, err := a.rpc.GetRun(ctx, runID)
	if err != nil {
		return Run{}, err
	}
	return toRun(m), nil
}

// ListRuns returns the runs that the filter selects, newest first. It requests the next page when
// the loop reaches it. An error is the last element. Errors: invalid_argument.
func (a *AgentClient) ListRuns(ctx context.Context, filter RunFilter) iter.Seq2[Run, error] {
	return func(yield func(Run, error) bool) {
		request, err := fromRunFilter(filter)
		if err != nil {
			yield(Run{}, err)
			return
		}
		for m, err := range a.rpc.ListRuns(ctx, request) {
			if err != nil {
				yield(Run{}, err)
				return
			}
			if !yield(toRun(m), nil) {
				return
			}
		}
	}
}
