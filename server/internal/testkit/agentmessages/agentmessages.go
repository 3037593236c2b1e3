// Package agentmessages is a client of agentd for tests that compare the messages of agentd.v1 as
// clients in other languages receive them. Programs use the package client.
package agentmessages

import (
	"context"
	"iter"
	"os"

	"google.golang.org/grpc"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/internal/wire/link"
)

// Client is a client of one agentd. Errors are *tool.Error. All methods are safe for concurrent
// use.
type Client struct{ link *link.Link }

// Dial returns a client of the agentd at addr. The caller must call Close.
func Dial(addr string) (*Client, error) {
	at, err := address.Find(addr, "agentd", os.Getenv)
	if err != nil {
		return nil, err
	}
	with, err := credential.Settings{}.Resolve("agentd", at, os.Getenv)
	if err != nil {
		return nil, err
	}
	to, err := link.New(at, "agentd", 64<<20, with)
	return &Client{to}, err
}

// Close closes the connection.
func (c *Client) Close() error { return c.link.Close() }

// invoke makes an RPC. method is a method expression of the generated client.
func invoke[Req, Resp any](ctx context.Context, c *Client, method func(agentdv1.AgentServiceClient, context.Context, *Req, ...grpc.CallOption) (*Resp, error), req *Req) (*Resp, error) {
	return link.Invoke(ctx, c.link, func(conn grpc.ClientConnInterface) (*Resp, error) {
		return method(agentdv1.NewAgentServiceClient(conn), ctx, req)
	})
}

// StartRun starts a run and returns its id.
func (c *Client) StartRun(ctx context.Context, req *agentdv1.StartRunRequest) (runID string, err error) {
	resp, err := invoke(ctx, c, agentdv1.AgentServiceClient.StartRun, req)
	return resp.GetRunId(), err
}

// SendMessage adds a user message and returns the sequence number of its event.
func (c *Client) SendMessage(ctx context.Context, runID, text string, files ...*agentdv1.Attachment) (seq uint64, err error) {
	resp, err := invoke(ctx, c, agentdv1.AgentServiceClient.SendMessage, &agentdv1.SendMessageRequest{RunId: runID, Text: text, Attachments: files})
	return resp.GetSeq(), err
}

// Respond makes decisions and returns the sequence number of the first one's event.
func (c *Client) Respond(ctx context.Context, runID, by string, decisions ...*agentdv1.Decision) (seq uint64, err error) {
	resp, err := invoke(ctx, c, agentdv1.AgentServiceClient.Respond, &agentdv1.RespondRequest{RunId: runID, DecidedBy: by, Decisions: decisions})
	return resp.GetSeq(), err
}

// GetRun returns the summary of a run.
func (c *Client) GetRun(ctx context.Context, runID string) (*agentdv1.Run, error) {
	resp, err := invoke(ctx, c, agentdv1.AgentServiceClient.GetRun, &agentdv1.GetRunRequest{RunId: runID})
	return resp.GetRun(), err
}

// WatchRun returns the events of a run after a sequence number. An error is the last element.
func (c *Client) WatchRun(ctx context.Context, runID string, after uint64) iter.Seq2[*agentdv1.RunEvent, error] {
	open := func(ctx context.Context, conn grpc.ClientConnInterface) (grpc.ServerStreamingClient[agentdv1.WatchRunResponse], error) {
		return agentdv1.NewAgentServiceClient(conn).WatchRun(ctx, &agentdv1.WatchRunRequest{RunId: runID, AfterSeq: after})
	}
	return link.Receive(ctx, c.link, open, (*agentdv1.WatchRunResponse).GetEvent)
}
