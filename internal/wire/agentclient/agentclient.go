// Package agentclient is a client of agentd that returns the messages of agentd.v1. The public
// package client wraps it with Go types; programs of this repository use it directly.
package agentclient

import (
	"context"
	"iter"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// maxEventBytes is the maximum size of an event of a run. Events contain whole model responses and
// results, which are not split.
const maxEventBytes = 64 << 20

// Client is a client of one agentd. It connects with the first RPC, and again after a lost
// connection. Errors are *tool.Error. All methods are safe for concurrent use.
type Client struct{ link *link.Link }

// Dial returns a client of the agentd at addr. An empty addr means the environment variable
// AGENTD_ADDR, or the default socket of the user. Errors: invalid_argument if the address is
// malformed.
func Dial(addr string) (*Client, error) {
	at, err := address.Find(addr, "agentd", os.Getenv)
	if err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	return New(at, credential.Settings{}, os.Getenv)
}

// New returns a client of the agentd at an address. The environment completes the credentials.
// Errors: invalid_argument if the credentials do not fit the address, or if their files cannot be
// read. The caller must call Close.
func New(at address.Address, with credential.Settings, getenv func(string) string) (*Client, error) {
	resolved, err := with.Resolve("agentd", at, getenv)
	if err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	to, err := link.New(at, "agentd", maxEventBytes, resolved)
	if err != nil {
		return nil, err
	}
	return &Client{to}, nil
}

// Addr returns the address of the agentd.
func (a *Client) Addr() string { return a.link.Addr() }

// Close closes the connection; RPCs on it fail. It may be called more than once.
func (a *Client) Close() error { return a.link.Close() }

// Version returns the version of the agentd.
func (a *Client) Version(ctx context.Context) (tool.VersionInfo, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.GetVersionResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).GetVersion(ctx, &agentdv1.GetVersionRequest{})
	})
	return toolpb.ToVersion(resp.GetVersion()), err
}

// WhoAmI returns how the agentd identified this client, and what the client may do.
func (a *Client) WhoAmI(ctx context.Context) (tool.CallerInfo, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.WhoAmIResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).WhoAmI(ctx, &agentdv1.WhoAmIRequest{})
	})
	return toolpb.ToCaller(resp.GetCaller()), err
}

// Reload makes the agentd apply the changes of its configuration file. The result is nil if there are
// none.
func (a *Client) Reload(ctx context.Context) (*agentdv1.ConfigurationChange, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.ReloadResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).Reload(ctx, &agentdv1.ReloadRequest{})
	})
	return resp.GetConfiguration(), err
}

// DiffConfiguration returns what Reload would change.
func (a *Client) DiffConfiguration(ctx context.Context) (*agentdv1.ConfigurationChange, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.DiffConfigurationResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).DiffConfiguration(ctx, &agentdv1.DiffConfigurationRequest{})
	})
	return resp.GetConfiguration(), err
}

// StartRun starts a run and returns its id at once. Errors: invalid_argument, conflict.
func (a *Client) StartRun(ctx context.Context, req *agentdv1.StartRunRequest) (runID string, err error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.StartRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).StartRun(ctx, req)
	})
	return resp.GetRunId(), err
}

// SendMessage adds a user message and returns the sequence number of its event. Errors: not_found.
func (a *Client) SendMessage(ctx context.Context, runID, text string, files ...*agentdv1.Attachment) (seq uint64, err error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.SendMessageResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).SendMessage(ctx, &agentdv1.SendMessageRequest{RunId: runID, Text: text, Attachments: files})
	})
	return resp.GetSeq(), err
}

// Respond makes pending decisions, all or none, and returns the sequence number of the first one's
// event. by is the name of the person who decides; it may be empty. Errors: not_found,
// invalid_argument.
func (a *Client) Respond(ctx context.Context, runID, by string, decisions ...*agentdv1.Decision) (seq uint64, err error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.RespondResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).Respond(ctx, &agentdv1.RespondRequest{RunId: runID, DecidedBy: by, Decisions: decisions})
	})
	return resp.GetSeq(), err
}

// WatchRun returns the events of a run after a sequence number (0: all), until the run has
// finished. An error is the last element. Errors: not_found.
func (a *Client) WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[*agentdv1.RunEvent, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[agentdv1.WatchRunResponse], error) {
		return agentdv1.NewAgentServiceClient(conn).WatchRun(ctx, &agentdv1.WatchRunRequest{RunId: runID, AfterSeq: after})
	}
	return link.Receive(ctx, a.link, open, (*agentdv1.WatchRunResponse).GetEvent)
}

// DeleteRun deletes a finished run with its sub-runs, and returns their ids. Errors: not_found;
// conflict if one of them has not finished.
func (a *Client) DeleteRun(ctx context.Context, runID string) ([]string, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.DeleteRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).DeleteRun(ctx, &agentdv1.DeleteRunRequest{RunId: runID})
	})
	return resp.GetRunIds(), err
}

// CancelRun stops a run. reason may be empty. Errors: not_found.
func (a *Client) CancelRun(ctx context.Context, runID, reason string) error {
	_, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.CancelRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).CancelRun(ctx, &agentdv1.CancelRunRequest{RunId: runID, Reason: reason})
	})
	return err
}

// GetRun returns the summary of a run and its pending decisions. Errors: not_found.
func (a *Client) GetRun(ctx context.Context, runID string) (*agentdv1.Run, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.GetRunResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).GetRun(ctx, &agentdv1.GetRunRequest{RunId: runID})
	})
	return resp.GetRun(), err
}

// ListRuns returns the runs that filter selects, newest first; nil selects all. It requests the
// next page when the loop reaches it. An error is the last element. Errors: invalid_argument.
func (a *Client) ListRuns(ctx context.Context, filter *agentdv1.ListRunsRequest) iter.Seq2[*agentdv1.Run, error] {
	return func(yield func(*agentdv1.Run, error) bool) {
		req := &agentdv1.ListRunsRequest{}
		if filter != nil {
			req = proto.CloneOf(filter)
		}
		for {
			resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.ListRunsResponse, error) {
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
