package client

import (
	"context"
	"crypto/rand"
	"iter"

	"google.golang.org/grpc"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// maxEventBytes is the maximum size of an event of a run. Events contain whole model responses and
// results, which are not split.
const maxEventBytes = 64 << 20

// AgentClient is a client of one agentd, which runs LLM agents. It connects with the first RPC, and
// again after a lost connection. Errors are *tool.Error. All methods are safe for concurrent use.
type AgentClient struct{ link *link.Link }

// DialAgent returns a client of the agentd at addr, as Dial does for a toolhost. The environment
// variables begin with AGENTD_. The caller must call Close.
func DialAgent(addr string, options ...DialOption) (*AgentClient, error) {
	to, err := newLink(addr, "agentd", maxEventBytes, options)
	if err != nil {
		return nil, err
	}
	return &AgentClient{to}, nil
}

// Addr returns the address of the agentd.
func (a *AgentClient) Addr() string { return a.link.Addr() }

// Close closes the connection; RPCs and watches on it fail. It may be called more than once.
func (a *AgentClient) Close() error { return a.link.Close() }

// Version returns the version of the agentd.
func (a *AgentClient) Version(ctx context.Context) (tool.VersionInfo, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.GetVersionResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).GetVersion(ctx, &agentdv1.GetVersionRequest{})
	})
	return toolpb.ToVersion(resp.GetVersion()), err
}

// WhoAmI returns how the agentd identified this client, and what the client may do. Every client
// that the agentd has identified may ask.
func (a *AgentClient) WhoAmI(ctx context.Context) (tool.CallerInfo, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.WhoAmIResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).WhoAmI(ctx, &agentdv1.WhoAmIRequest{})
	})
	return toolpb.ToCaller(resp.GetCaller()), err
}

// Reload makes the agentd apply the changes of its configuration file, and returns them. The zero
// value means that there are none. Errors: unavailable if the agentd has no such file.
func (a *AgentClient) Reload(ctx context.Context) (tool.ConfigurationChange, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.ReloadResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).Reload(ctx, &agentdv1.ReloadRequest{})
	})
	return toConfigurationChange(resp.GetConfiguration()), err
}

// DiffConfiguration returns what Reload would change. Errors: as of Reload.
func (a *AgentClient) DiffConfiguration(ctx context.Context) (tool.ConfigurationChange, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.DiffConfigurationResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).DiffConfiguration(ctx, &agentdv1.DiffConfigurationRequest{})
	})
	return toConfigurationChange(resp.GetConfiguration()), err
}

// StartRun starts a run and returns its id at once. If a run with the same id exists that began
// with the same task, it returns that run. Errors: invalid_argument, also for an unknown agent or
// model; conflict if a run with the same id exists that began with another task.
func (a *AgentClient) StartRun(ctx context.Context, task Task) (runID string, err error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.StartRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).StartRun(ctx, fromTask(task))
	})
	return resp.GetRunId(), err
}

// SendMessage adds a user message to a run and returns the sequence number of its event. A finished
// run continues with the message. Errors: not_found; invalid_argument if the model of the run does
// not read an attachment.
func (a *AgentClient) SendMessage(ctx context.Context, runID, text string, attachments ...Attachment) (seq uint64, err error) {
	return a.SendMessageOnce(ctx, runID, rand.Text(), text, attachments...)
}

// SendMessageOnce is SendMessage for a message with an id, which has 1 to 64 of the characters
// A-Z a-z 0-9 _ -. Call it again with the same id when it was unclear whether the message arrived:
// agentd adds the message once. Errors: also conflict if the id belongs to a message with another
// text.
func (a *AgentClient) SendMessageOnce(ctx context.Context, runID, messageID, text string, attachments ...Attachment) (seq uint64, err error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.SendMessageResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).SendMessage(ctx, &agentdv1.SendMessageRequest{RunId: runID, MessageId: messageID, Text: text, Attachments: fromAttachments(attachments)})
	})
	return resp.GetSeq(), err
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
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.RespondResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).Respond(ctx, &agentdv1.RespondRequest{RunId: runID, DecidedBy: by, Decisions: messages})
	})
	return resp.GetSeq(), err
}

// WatchRun returns the events of a run: first those after the sequence number after (0: all) that
// the journal contains, then new ones, until the run has finished. An error is the last element; to
// continue, call WatchRun again with the Seq of the last durable event. Leaving the loop or
// canceling ctx ends the watch, not the run. Events of a kind that this version does not know are
// skipped. Errors: not_found.
func (a *AgentClient) WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[RunEvent, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[agentdv1.WatchRunResponse], error) {
		return agentdv1.NewAgentServiceClient(conn).WatchRun(ctx, &agentdv1.WatchRunRequest{RunId: runID, AfterSeq: after})
	}
	return func(yield func(RunEvent, error) bool) {
		for m, err := range link.Receive(ctx, a.link, open, (*agentdv1.WatchRunResponse).GetEvent) {
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
	_, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.CancelRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).CancelRun(ctx, &agentdv1.CancelRunRequest{RunId: runID, Reason: reason})
	})
	return err
}

// DeleteRun deletes a finished run with its sub-runs, and returns their ids, its own first. No run
// can have their ids again: StartRun with one of them is a conflict. Errors: not_found; conflict if
// one of them, or a run of which it is a sub-run, has not finished.
func (a *AgentClient) DeleteRun(ctx context.Context, runID string) ([]string, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.DeleteRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).DeleteRun(ctx, &agentdv1.DeleteRunRequest{RunId: runID})
	})
	return resp.GetRunIds(), err
}

// GetRun returns the summary of a run, with the pending decisions of the run and its sub-runs.
// Errors: not_found.
func (a *AgentClient) GetRun(ctx context.Context, runID string) (Run, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.GetRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).GetRun(ctx, &agentdv1.GetRunRequest{RunId: runID})
	})
	if err != nil {
		return Run{}, err
	}
	return toRun(resp.GetRun()), nil
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
		for err == nil {
			var resp *agentdv1.ListRunsResponse
			resp, err = link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.ListRunsResponse, error) {
				return agentdv1.NewAgentServiceClient(conn).ListRuns(ctx, request)
			})
			for _, m := range resp.GetRuns() {
				if !yield(toRun(m), nil) {
					return
				}
			}
			if request.PageToken = resp.GetNextPageToken(); err == nil && request.PageToken == "" {
				return
			}
		}
		yield(Run{}, err)
	}
}
