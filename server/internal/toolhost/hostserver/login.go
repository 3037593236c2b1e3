package hostserver

import (
	"context"

	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/tool"
)

// Logins logs principals in to MCP servers. principal is the key of the principal. Errors are
// *tool.Error.
type Logins interface {
	// Logins returns the login of a principal at each server that requires one, or at one plugin;
	// empty: all.
	Logins(ctx context.Context, principal, plugin string) ([]tool.Login, error)
	// BeginLogin begins a login. If describes is set, toolhost may read the definitions of the tools
	// with it.
	BeginLogin(ctx context.Context, principal, plugin, redirectURI string, describes bool) (tool.LoginStart, error)
	FinishLogin(ctx context.Context, principal, plugin, id string, answer tool.LoginAnswer) (tool.Login, error)
	Logout(ctx context.Context, principal, plugin string) (tool.Logout, error)
}

// loginService implements toolhost.v1.LoginService. The guard converts errors to statuses.
type loginService struct {
	toolhostv1.UnimplementedLoginServiceServer
	logins Logins // nil: there are none
}

// loginOwner returns the key of the caller. A login is worth as much as the person that made it, so
// it belongs to an identified caller. A limited token must not extend what the principal can reach.
func (s *loginService) loginOwner(ctx context.Context) (string, error) {
	p, _ := identity.FromContext(ctx)
	switch {
	case s.logins == nil:
		return "", tool.Errorf(tool.KindUnsupported, "this toolhost has no logins")
	case p.Name == "" || p.Name == authn.Anonymous:
		return "", tool.Errorf(tool.KindDenied, "an anonymous caller cannot log in to an MCP server, because every program of the machine would use the login; connect over the unix socket or with a token")
	case p.Scope != nil:
		return "", tool.Errorf(tool.KindDenied, "a token that is limited to some roles or tools cannot log in to an MCP server")
	}
	return p.Key(), nil
}

// ListLogins implements toolhost.v1.LoginService.
func (s *loginService) ListLogins(ctx context.Context, req *toolhostv1.ListLoginsRequest) (*toolhostv1.ListLoginsResponse, error) {
	owner, err := s.loginOwner(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.logins.Logins(ctx, owner, req.GetPlugin())
	if err != nil {
		return nil, err
	}
	resp := &toolhostv1.ListLoginsResponse{}
	for _, l := range found {
		resp.Logins = append(resp.Logins, hostpb.FromLogin(l))
	}
	return resp, nil
}

// BeginLogin implements toolhost.v1.LoginService.
func (s *loginService) BeginLogin(ctx context.Context, req *toolhostv1.BeginLoginRequest) (*toolhostv1.BeginLoginResponse, error) {
	owner, err := s.loginOwner(ctx)
	if err != nil {
		return nil, err
	}
	operator := gate.Decide(ctx, authz.Request{Right: authz.PluginsChange}).Allowed
	started, err := s.logins.BeginLogin(ctx, owner, req.GetPlugin(), req.GetRedirectUri(), operator)
	if err != nil {
		return nil, err
	}
	return hostpb.FromLoginStart(started), nil
}

// FinishLogin implements toolhost.v1.LoginService.
func (s *loginService) FinishLogin(ctx context.Context, req *toolhostv1.FinishLoginRequest) (*toolhostv1.FinishLoginResponse, error) {
	owner, err := s.loginOwner(ctx)
	if err != nil {
		return nil, err
	}
	answer := tool.LoginAnswer{
		Code: req.GetCode(), State: req.GetState(), Issuer: req.GetIssuer(), Error: req.GetError(), ErrorDescription: req.GetErrorDescription(),
	}
	login, err := s.logins.FinishLogin(ctx, owner, req.GetPlugin(), req.GetLoginId(), answer)
	if err != nil {
		return nil, err
	}
	return &toolhostv1.FinishLoginResponse{Login: hostpb.FromLogin(login)}, nil
}

// Logout implements toolhost.v1.LoginService.
func (s *loginService) Logout(ctx context.Context, req *toolhostv1.LogoutRequest) (*toolhostv1.LogoutResponse, error) {
	owner, err := s.loginOwner(ctx)
	if err != nil {
		return nil, err
	}
	out, err := s.logins.Logout(ctx, owner, req.GetPlugin())
	if err != nil {
		return nil, err
	}
	return &toolhostv1.LogoutResponse{WasLoggedIn: out.WasLoggedIn, RevocationProblem: out.RevocationProblem}, nil
}
