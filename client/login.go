package client

import (
	"context"

	"google.golang.org/grpc"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/internal/wire/link"
	"github.com/toolhost/toolhost/tool"
)

// Logins returns the MCP servers that require a login and this client's login at each, ordered by
// plugin. An empty plugin means all. The tokens stay in the toolhost. Errors: not_found.
func (c *Client) Logins(ctx context.Context, plugin string) ([]tool.Login, error) {
	resp, err := link.Invoke(ctx, c.fleet.To(""), func(conn grpc.ClientConnInterface) (*toolhostv1.ListLoginsResponse, error) {
		return toolhostv1.NewLoginServiceClient(conn).ListLogins(ctx, &toolhostv1.ListLoginsRequest{Plugin: plugin})
	})
	if err != nil {
		return nil, err
	}
	logins := []tool.Login{}
	for _, l := range resp.GetLogins() {
		logins = append(logins, hostpb.ToLogin(l))
	}
	return logins, nil
}

// BeginLogin begins a login of this client at an MCP server. redirectURI is where a browser brings
// the answer: a port of loopback on the machine of the person, such as
// http://127.0.0.1:8912/callback. Empty means that the person agrees on another device. The
// principal of OnBehalfOf is ignored. Errors: not_found, denied, unavailable, unsupported.
func (c *Client) BeginLogin(ctx context.Context, plugin, redirectURI string) (tool.LoginStart, error) {
	resp, err := link.Invoke(ctx, c.fleet.One(""), func(conn grpc.ClientConnInterface) (*toolhostv1.BeginLoginResponse, error) {
		return toolhostv1.NewLoginServiceClient(conn).BeginLogin(ctx, &toolhostv1.BeginLoginRequest{Plugin: plugin, RedirectUri: redirectURI})
	})
	if err != nil {
		return tool.LoginStart{}, err
	}
	return hostpb.ToLoginStart(plugin, resp), nil
}

// FinishLogin finishes a login that this client began. For a login on another device, it blocks
// until the person has agreed or refused, or ctx ends. Errors: not_found, denied, unavailable.
func (c *Client) FinishLogin(ctx context.Context, plugin, id string, answer tool.LoginAnswer) (tool.Login, error) {
	resp, err := link.Invoke(ctx, c.fleet.One(""), func(conn grpc.ClientConnInterface) (*toolhostv1.FinishLoginResponse, error) {
		return toolhostv1.NewLoginServiceClient(conn).FinishLogin(ctx, &toolhostv1.FinishLoginRequest{
			Plugin: plugin, LoginId: id, Code: answer.Code, State: answer.State, Issuer: answer.Issuer, Error: answer.Error, ErrorDescription: answer.ErrorDescription,
		})
	})
	return hostpb.ToLogin(resp.GetLogin()), err
}

// Logout ends this client's login at an MCP server. Errors: not_found.
func (c *Client) Logout(ctx context.Context, plugin string) (tool.Logout, error) {
	resp, err := link.Invoke(ctx, c.fleet.One(""), func(conn grpc.ClientConnInterface) (*toolhostv1.LogoutResponse, error) {
		return toolhostv1.NewLoginServiceClient(conn).Logout(ctx, &toolhostv1.LogoutRequest{Plugin: plugin})
	})
	return tool.Logout{WasLoggedIn: resp.GetWasLoggedIn(), RevocationProblem: resp.GetRevocationProblem()}, err
}
