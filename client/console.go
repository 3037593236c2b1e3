package client

import (
	"context"
	"time"

	"google.golang.org/grpc"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/internal/wire/link"
)

// ConsoleCode is a one-time code with which a person logs in at the pages of an agentd. It is a
// secret.
type ConsoleCode struct {
	Code    string
	URL     string    // of the pages, without the code
	Expires time.Time // when the code ends
}

// ConsoleCode returns a one-time code for the pages of the agentd. Whoever types it first is this
// client at the pages. Errors: unavailable if the agentd serves no pages; denied if the client is
// not connected over a unix socket; rate_limited if too many codes wait to be used.
func (a *AgentClient) ConsoleCode(ctx context.Context) (ConsoleCode, error) {
	resp, err := link.Invoke(ctx, a.link, func(conn grpc.ClientConnInterface) (*agentdv1.CreateConsoleCodeResponse, error) {
		return agentdv1.NewAgentServiceClient(conn).CreateConsoleCode(ctx, &agentdv1.CreateConsoleCodeRequest{})
	})
	if err != nil {
		return ConsoleCode{}, err
	}
	return ConsoleCode{Code: resp.GetCode(), URL: resp.GetUrl(), Expires: resp.GetExpireTime().AsTime()}, nil
}
