package mcpauth

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/toolhost/toolhost/tool"
)

// Status returns the login of a principal at a server.
func (l *Logins) Status(s Server, principal string) (tool.Login, error) {
	e, err := l.load(account{s.Plugin, principal})
	if err != nil {
		return tool.Login{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return l.status(s, e.login, e.missing), nil
}

func (l *Logins) status(s Server, g *login, missing []string) tool.Login {
	out := tool.Login{Plugin: s.Plugin, URL: s.URL, Grant: cmp.Or(s.OAuth.Grant, GrantPerson), MissingScopes: missing}
	if g == nil {
		return out
	}
	out.LoggedIn, out.Issuer, out.Scopes, out.Created, out.Expires, out.Renews = true, g.Issuer, g.Scopes, g.Created, g.Expires, g.RefreshToken != ""
	out.Problem = g.usable(s)
	if out.Problem == "" && !out.Renews && !g.Expires.IsZero() && !l.cfg.Now().Before(g.Expires) {
		out.Problem = "the login has expired"
	}
	return out
}

// Logout ends the login of a principal: calls fail from now on, the file is removed, and then the
// authorization server is asked to revoke the tokens. If only that fails, the error is nil.
func (l *Logins) Logout(ctx context.Context, s Server, principal string) (out tool.Logout, err error) {
	who := account{s.Plugin, principal}
	e := l.entry(who)
	e.mu.Lock()
	g, loaded := e.login, e.loaded
	if !loaded {
		if g, err = l.store.load(who); err != nil {
			g, out.WasLoggedIn = nil, true // a damaged file is removed, too
		}
	}
	e.login, e.loaded, e.missing = nil, true, nil
	err = l.store.remove(who)
	e.mu.Unlock()
	if err != nil {
		return out, fmt.Errorf("removing the login: %w", err)
	}
	if g == nil {
		return out, nil
	}
	l.learnLogin(who, g)
	l.cfg.Changed(who.plugin, who.principal)
	out.WasLoggedIn = true
	if problem := l.revoke(ctx, s, who, g); problem != nil {
		out.RevocationProblem = problem.Error()
	}
	return out, nil
}

// revoke asks an authorization server to revoke the tokens of a login (RFC 7009).
func (l *Logins) revoke(ctx context.Context, s Server, who account, g *login) error {
	if g.RevocationEndpoint == "" {
		return fmt.Errorf("the authorization server %s cannot revoke tokens; the access token ends by itself", shown(g.Issuer))
	}
	how, err := l.credentials(s, who, g.Issuer, g.Client)
	if err != nil {
		return err
	}
	tokens := [][2]string{{"refresh_token", g.RefreshToken}, {"access_token", g.AccessToken}}
	for _, t := range tokens {
		if t[1] == "" {
			continue
		}
		if err := l.revokeOne(ctx, who, g.RevocationEndpoint, how, t[0], t[1]); err != nil {
			return err
		}
	}
	return nil
}

func (l *Logins) revokeOne(ctx context.Context, who account, endpoint string, how credentials, kind, token string) error {
	form := url.Values{"token": {token}, "token_type_hint": {kind}}
	for name, values := range how.params {
		form[name] = values
	}
	basic := how.secret != "" && how.style == oauth2.AuthStyleInHeader
	if !basic {
		form.Set("client_id", how.id)
		if how.secret != "" {
			form.Set("client_secret", how.secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if basic {
		req.SetBasicAuth(url.QueryEscape(how.id), url.QueryEscape(how.secret))
	}
	resp, err := l.web(who.plugin).Do(req)
	if err != nil {
		return fmt.Errorf("revoking the tokens: %w", webError(err))
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("revoking the tokens: the authorization server answers with status %d", resp.StatusCode)
	}
	return nil
}

// describing returns the account with whose login toolhost reads the tools of a server: the oldest
// login of an operator. If there is none, the account has no login.
func (l *Logins) describing(s Server) (account, error) {
	var found []*login
	err := l.store.all(func(g *login) {
		if g.Describes && g.Plugin == s.Plugin && g.usable(s) == "" {
			found = append(found, g)
		}
	})
	if err != nil || len(found) == 0 {
		return account{plugin: s.Plugin}, err
	}
	slices.SortFunc(found, func(a, b *login) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.Principal, b.Principal))
	})
	return account{s.Plugin, found[0].Principal}, nil
}
