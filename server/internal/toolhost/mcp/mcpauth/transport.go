package mcpauth

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/toolhost/toolhost/tool"
)

// Transport returns a RoundTripper for the requests of one principal to an MCP server, which sets
// the header Authorization. The principal is the key; empty stands for the login with which
// toolhost reads the definitions of the tools, which is used for no other requests. The requests go
// through next.
//
// An error that only a login remedies is a *tool.Error of the kind denied that wraps a *LoginError.
// Transport never sends a token to another URL than that of the server, and it removes an
// Authorization header that a request has.
func (l *Logins) Transport(s Server, principal string, next http.RoundTripper) http.RoundTripper {
	return &transport{logins: l, server: s, principal: principal, next: next}
}

// transport sends the requests of one session.
//
// A client begins a session with the newest version of MCP, and takes an error for an older server.
// So the reason of the first refusal would be lost, and the session would fail with what the second
// request got. The transport therefore repeats the first refusal until there is another token, or
// until a request has succeeded.
type transport struct {
	logins    *Logins
	server    Server
	principal string
	next      http.RoundTripper

	mu      sync.Mutex
	began   bool   // a request has succeeded
	lacking error  // why the first request was refused; nil: it was not
	refused string // the token of that request; may be empty
}

// repeat returns the refusal of the first request, if a request with this token would get it, too.
func (t *transport) repeat(token string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began || t.refused != token {
		return nil
	}
	return t.lacking
}

// done notes how a request with a token ended.
func (t *transport) done(token string, resp *http.Response, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, lacks := errors.AsType[*LoginError](err); lacks && !t.began {
		t.lacking, t.refused = err, token
	}
	t.began = t.began || err == nil && resp.StatusCode < http.StatusBadRequest
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	defer func() {
		if req.Body != nil {
			_ = req.Body.Close() // the requests that are sent are clones
		}
	}()
	if !t.isServer(req.URL) {
		return nil, tool.Errorf(tool.KindDenied, "the MCP server %q leads to another URL (%s), which must not get its token", t.server.Plugin, shown(req.URL.String()))
	}
	if t.principal == "" && t.server.OAuth.Grant != GrantClient && !describes(req) {
		return nil, tool.Errorf(tool.KindDenied, "a session with the MCP server %q that belongs to no principal can only read what the server offers", t.server.Plugin)
	}
	resp, err := t.roundTrip(req)
	if e, ok := errors.AsType[*LoginError](err); ok {
		return nil, &tool.Error{Kind: tool.KindDenied, Message: e.Error(), Err: e}
	}
	return resp, err
}

// isServer reports whether a URL is that for which the tokens are.
func (t *transport) isServer(u *url.URL) bool {
	mine, err := url.Parse(t.server.URL)
	return err == nil && origin(mine) == origin(u) && mine.EscapedPath() == u.EscapedPath() && u.User == nil && checkEndpoint(u.String()) == nil
}

func (t *transport) roundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	who, err := t.account()
	if err != nil {
		return nil, err
	}
	token, err := t.logins.token(ctx, t.server, who, "")
	if err == nil {
		err = t.repeat(token)
	}
	if err != nil {
		return nil, err
	}
	resp, err := t.exchange(req, who, token)
	t.done(token, resp, err)
	return resp, err
}

// exchange sends a request, and sends it once more if the server refuses the token and there is
// another one.
func (t *transport) exchange(req *http.Request, who account, token string) (*http.Response, error) {
	ctx, l := req.Context(), t.logins
	for attempt := 1; ; attempt++ {
		resp, err := t.send(req, token)
		if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
			return resp, err
		}
		c := parseChallenge(resp.Header)
		narrow := resp.StatusCode == http.StatusForbidden
		if narrow && c.Error != "insufficient_scope" {
			return resp, nil // the principal itself may not do this
		}
		_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer)
		_ = resp.Body.Close()
		l.note(who, c, narrow)
		if attempt == 2 || req.Body != nil && req.GetBody == nil {
			return nil, t.refusal(who, c, narrow, "the server refuses the token")
		}
		if narrow && t.server.OAuth.Grant != GrantClient {
			return nil, t.refusal(who, c, narrow, "the login does not permit this")
		}
		if token == "" && t.server.OAuth.Grant != GrantClient {
			return nil, t.refusal(who, c, narrow, noLogin)
		}
		if token, err = l.token(ctx, t.server, who, token); err != nil {
			return nil, err
		}
	}
}

func (t *transport) refusal(who account, c challenge, narrow bool, reason string) error {
	e := &LoginError{Plugin: who.plugin, Principal: t.principal, Reason: reason}
	if narrow {
		e.Scopes = c.Scopes
	}
	if t.server.OAuth.Grant == GrantClient {
		return tool.Errorf(tool.KindDenied, "the MCP server %q refuses the client in its plugin.yaml: %s", who.plugin, reason)
	}
	return e
}

// send sends a copy of a request with a token.
func (t *transport) send(req *http.Request, token string) (*http.Response, error) {
	out := req.Clone(req.Context())
	if req.Body != nil && req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	out.Header.Del("Authorization")
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	return t.next.RoundTrip(out)
}

// account returns whose login the requests use.
func (t *transport) account() (account, error) {
	if t.principal != "" || t.server.OAuth.Grant == GrantClient {
		return account{t.server.Plugin, t.principal}, nil
	}
	return t.logins.describing(t.server)
}

// note remembers what a server asked for, for the next login.
func (l *Logins) note(who account, c challenge, narrow bool) {
	e := l.entry(who)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked = c; narrow {
		e.missing = union(e.missing, c.Scopes)
		if len(e.missing) > maxScopes {
			e.missing = c.Scopes
		}
	}
}

// describing are the methods of MCP that begin a session or read what a server offers.
var describing = []string{
	"initialize", "server/discover", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "logging/setLevel",
	"subscriptions/listen", "notifications/initialized", "notifications/cancelled",
}

// describes reports whether a request only reads what a server offers. The login of an operator,
// with which toolhost does that, must not execute the call of another principal, however its
// session came about.
func describes(req *http.Request) bool {
	if req.Body == nil || req.Body == http.NoBody {
		return true // it reads notifications, or ends the session
	}
	if req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	var message struct {
		Method string `json:"method"`
	}
	return err == nil && json.Unmarshal(text, &message) == nil && slices.Contains(describing, message.Method)
}
