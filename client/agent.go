package client

import (
	"context"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// maxRunEventBytes is what one event of a run may have: whole responses and results, not cut in pieces.
const maxRunEventBytes = 64 << 20

// Agent is a client of one agentd. All methods may be called from any goroutine. It connects when it is first used,
// and anew when the connection was lost. Runs are told in the messages of agentd.v1; errors are *tool.Error.
type Agent struct{ link *link }

// DialAgent returns a client of the agentd at addr: unix:///PATH, 127.0.0.1:PORT or [::1]:PORT. Empty means the
// environment's AGENTD_ADDR, else the default socket of this user, as with OwnServer. It does not connect; the only error is
// that the address is ill-formed. Close must be called in the end.
func DialAgent(addr string, options ...DialOption) (*Agent, error) {
	at, err := find(addr, "agentd", options)
	if err != nil {
		return nil, err
	}
	return &Agent{link: newLink(at, "agentd", maxRunEventBytes)}, nil
}

// Addr returns the address of the agentd.
func (a *Agent) Addr() string { return a.link.addr.String() }

// Close ends the connection. RPCs and watches under way fail. It may be called more than once.
func (a *Agent) Close() error { return a.link.close() }

// StartRun begins a run and returns its id at once. The same run id with the same prompt returns the run that exists.
// Errors: invalid_argument, also for a kind of task that the server does not know; conflict if the id is taken by a run with
// another prompt.
func (a *Agent) StartRun(ctx context.Context, req *agentdv1.StartRunRequest) (runID string, err error) {
	resp, err := invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.StartRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).StartRun(ctx, req)
	})
	return resp.GetRunId(), err
}

// SendMessage adds a user's message to a run and returns its place in the journal. Errors: not_found.
func (a *Agent) SendMessage(ctx context.Context, runID, text string) (seq uint64, err error) {
	resp, err := invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.SendMessageResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).SendMessage(ctx, &agentdv1.SendMessageRequest{RunId: runID, Text: text})
	})
	return resp.GetSeq(), err
}

// Respond makes decisions that a run waits for, all of them or none, and returns the place of the first in the journal.
// GetRun and the events decision_requested say which are wanted. Those of sub-runs, RUN/DECISION, are handed to these, and all
// have to be for the same run then. by names who decides; it may be empty. Errors:
// not_found if there is no such run or a decision is not wanted, also not any more; invalid_argument if one does not fit
// what is asked.
func (a *Agent) Respond(ctx context.Context, runID, by string, decisions ...*agentdv1.Decision) (seq uint64, err error) {
	resp, err := invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.RespondResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).Respond(ctx, &agentdv1.RespondRequest{RunId: runID, DecidedBy: by, Decisions: decisions})
	})
	return resp.GetSeq(), err
}

// WatchRun returns a run's events after the one with the seq given (0: from the beginning), first those that the
// journal holds, then new ones as they happen, until the run has finished. An error ends it; to go on, watch again
// after the last durable event that came. Ending the loop or ctx ends the watch, not the run. Errors: not_found.
func (a *Agent) WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[*agentdv1.RunEvent, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[agentdv1.WatchRunResponse], error) {
		return agentdv1.NewAgentServiceClient(conn).WatchRun(ctx, &agentdv1.WatchRunRequest{RunId: runID, AfterSeq: after})
	}
	return receive(ctx, a.link, open, (*agentdv1.WatchRunResponse).GetEvent)
}

// CancelRun stops a run; its last event tells the end. reason may be empty. Errors: not_found.
func (a *Agent) CancelRun(ctx context.Context, runID, reason string) error {
	_, err := invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.CancelRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).CancelRun(ctx, &agentdv1.CancelRunRequest{RunId: runID, Reason: reason})
	})
	return err
}

// GetRun returns a run's summary, and the decisions that it and its sub-runs wait for. Errors: not_found.
func (a *Agent) GetRun(ctx context.Context, runID string) (*agentdv1.Run, error) {
	resp, err := invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.GetRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).GetRun(ctx, &agentdv1.GetRunRequest{RunId: runID})
	})
	return resp.GetRun(), err
}

// ListRuns returns the runs that filter selects, the newest first, and asks for the next page when the loop gets there.
// Nil selects all. An error ends it. Errors: invalid_argument.
func (a *Agent) ListRuns(ctx context.Context, filter *agentdv1.ListRunsRequest) iter.Seq2[*agentdv1.Run, error] {
	return func(yield func(*agentdv1.Run, error) bool) {
		req := &agentdv1.ListRunsRequest{}
		if filter != nil {
			req = proto.CloneOf(filter)
		}
		for {
			resp, err := invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.ListRunsResponse, error) {
				return agentdv1.NewAgentServiceClient(conn).ListRuns(ctx, req)
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, run := range resp.GetRuns() {
				if !yield(run, nil) {
					return
				}
			}
			if req.PageToken = resp.GetNextPageToken(); req.PageToken == "" {
				return
			}
		}
	}
}
