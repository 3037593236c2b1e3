package hostserver_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// loginBook records for whom logins are made, and answers with fixed values.
type loginBook struct{ did []string }

var (
	someLogin = tool.Login{
		Plugin: "docs", URL: "https://docs.example/mcp", Grant: "authorization_code", LoggedIn: true, Issuer: "https://id.example", Scopes: []string{"read"},
		MissingScopes: []string{"write"}, Created: time.Unix(1, 0).UTC(), Expires: time.Unix(2, 0).UTC(), Renews: true, Problem: "none",
	}
	someStart = tool.LoginStart{
		ID: "1", Plugin: "docs", URL: "https://docs.example/mcp", Issuer: "https://id.example", Scopes: []string{"read"}, Expires: time.Unix(3, 0).UTC(),
		BrowserURL: "https://id.example/authorize", State: "s", UserCode: "u", VerifyURL: "https://id.example/device", VerifyURLComplete: "https://id.example/device?u",
	}
	someAnswer = tool.LoginAnswer{Code: "c", State: "s", Issuer: "i", Error: "e", ErrorDescription: "d"}
)

func (b *loginBook) note(format string, args ...any) {
	b.did = append(b.did, fmt.Sprintf(format, args...))
}

func (b *loginBook) Logins(_ context.Context, principal, plugin string) ([]tool.Login, error) {
	b.note("list %s %s", principal, plugin)
	return []tool.Login{someLogin}, nil
}

func (b *loginBook) BeginLogin(_ context.Context, principal, plugin, redirectURI string, describes bool) (tool.LoginStart, error) {
	b.note("begin %s %s %s %v", principal, plugin, redirectURI, describes)
	return someStart, nil
}

func (b *loginBook) FinishLogin(_ context.Context, principal, plugin, id string, answer tool.LoginAnswer) (tool.Login, error) {
	b.note("finish %s %s %s %v", principal, plugin, id, answer == someAnswer)
	return someLogin, nil
}

func (b *loginBook) Logout(_ context.Context, principal, plugin string) (tool.Logout, error) {
	b.note("logout %s %s", principal, plugin)
	return tool.Logout{WasLoggedIn: true, RevocationProblem: "none"}, nil
}

// loginClient returns a client of a server for which every caller is one principal with a role.
func loginClient(t *testing.T, book hostserver.Logins, p identity.Principal, role string) remote {
	t.Helper()
	tenant := p.Tenant
	if role == "author" {
		tenant = authz.AllTenants
	}
	policy := authz.New([]authz.Binding{{Role: role, To: []string{"name:" + p.Key()}, Tenants: []string{tenant}}})
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t), Logins: book, Gate: gate.New(gate.Config{
		Rights: hostserver.Rights(), Authenticator: known{p}, Policy: gate.Always(policy),
	})})
	return dial(t, a)
}

// Logins belong to the principal of the connection. toolhost reads the tools of a server only with
// the login of an operator.
func TestLogins(t *testing.T) {
	for role, operator := range map[string]bool{"caller": false, "author": true} {
		book := &loginBook{}
		c := loginClient(t, book, identity.Principal{Tenant: "red", Name: "ada"}, role)
		all, err := c.Logins(t.Context(), "docs")
		if diff := cmp.Diff([]tool.Login{someLogin}, all); diff != "" || err != nil {
			t.Errorf("the logins are %v (-want +got)\n%s", err, diff)
		}
		if started, err := c.BeginLogin(t.Context(), "docs", "http://127.0.0.1:1/x"); err != nil || !cmp.Equal(started, someStart) {
			t.Errorf("%+v, %v", started, err)
		}
		if done, err := c.FinishLogin(t.Context(), "docs", "1", someAnswer); err != nil || !cmp.Equal(done, someLogin) {
			t.Errorf("%+v, %v", done, err)
		}
		if out, err := c.Logout(t.Context(), "docs"); err != nil || out != (tool.Logout{WasLoggedIn: true, RevocationProblem: "none"}) {
			t.Errorf("%+v, %v", out, err)
		}
		want := []string{"list red/ada docs", fmt.Sprint("begin red/ada docs http://127.0.0.1:1/x ", operator), "finish red/ada docs 1 true", "logout red/ada docs"}
		if diff := cmp.Diff(want, book.did); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", role, diff)
		}
	}
}

// A caller that is not identified, one with a limited token, and one without the right cannot log
// in.
func TestWhoCannotLogIn(t *testing.T) {
	for reason, p := range map[string]identity.Principal{
		"an anonymous caller":                            {Tenant: identity.DefaultTenant, Name: authn.Anonymous, Credential: authn.None},
		"a token that is limited to some roles or tools": {Tenant: "red", Name: "ada", Scope: &identity.Scope{Tools: []string{"*"}}},
		"does not have the right":                        {Tenant: "red", Name: "auditor"},
	} {
		book := &loginBook{}
		role := "caller"
		if p.Name == "auditor" {
			role = "auditor"
		}
		c := loginClient(t, book, p, role)
		_, beginning := c.BeginLogin(t.Context(), "docs", "")
		_, finishing := c.FinishLogin(t.Context(), "docs", "1", someAnswer)
		_, ending := c.Logout(t.Context(), "docs")
		for _, err := range []error{beginning, finishing, ending} {
			if tool.KindOf(err) != tool.KindDenied || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v", reason, err)
			}
		}
		if len(book.did) != 0 {
			t.Errorf("%s: %v", reason, book.did)
		}
	}
}
