package wiretest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// Redirects checks that a model sends its API key and the conversation only to the origin of its
// base URL, whatever the server answers. open returns a model that uses the key and the base URL.
func Redirects(t *testing.T, open Open) {
	const base = "https://api.example.com/proxy/v1"
	for name, targets := range map[string][]string{
		"another host":                      {"https://evil.example.net/v1"},
		"another port":                      {"https://api.example.com:8443/v1"},
		"a subdomain":                       {"https://evil.api.example.com/v1"},
		"the parent domain":                 {"https://example.com/v1"},
		"plain HTTP":                        {"http://api.example.com/v1"},
		"plain HTTP at the port of HTTPS":   {"http://api.example.com:443/v1"},
		"an address without a scheme":       {"//evil.example.net/v1"},
		"the host as a user's name":         {"https://api.example.com@evil.example.net/v1"},
		"the host as user and password":     {"https://api.example.com:443@evil.example.net/v1"},
		"a host that ends with a dot":       {"https://api.example.com./v1"},
		"a backslash after the host":        {`https:\\evil.example.net\v1`, "https://evil.example.net"},
		"the same origin, then another":     {"/moved", "https://evil.example.net/v1"},
		"the same origin again and again":   {"/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8"},
		"a letter that becomes an i":        {"https://apİ.example.com/v1"},
		"the same origin in capitals, away": {"https://API.EXAMPLE.COM/x", "https://api.example.com:1/v1"},
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(name+" "+http.StatusText(status), func(t *testing.T) {
				net := &redirecting{status: status, targets: targets}
				m, err := open(base, "key-that-leaks", &http.Client{Transport: net})
				if err != nil {
					t.Fatal(err)
				}
				req := model.Request{Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Text: &model.Text{Text: "conversation-that-leaks"}}}}}}
				var last error
				for _, err := range m.Generate(t.Context(), req) {
					last = err
				}
				net.check(t, last)
			})
		}
	}
}

// FollowsWithinItsOrigin checks that the model follows a redirect that keeps the origin and the
// body.
func FollowsWithinItsOrigin(t *testing.T, open Open) {
	for _, target := range []string{"/v1/moved", "https://api.example.com/v1/moved", "https://API.example.com:443/v1/moved"} {
		net := &redirecting{status: http.StatusTemporaryRedirect, targets: []string{target}}
		m, err := open("https://api.example.com/v1", "key", &http.Client{Transport: net})
		if err != nil {
			t.Fatal(err)
		}
		for range m.Generate(t.Context(), model.Request{}) {
			continue
		}
		if len(net.sent) != 2 || !bytes.Equal(net.sent[0].Body, net.sent[1].Body) || net.sent[1].Path != "/v1/moved" {
			t.Errorf("%s: sent %+v", target, net.sent)
		}
	}
}

// redirecting is a transport for any number of servers. Each server redirects to the next target.
// The last target redirects to itself.
type redirecting struct {
	status  int
	targets []string

	mu   sync.Mutex
	sent []Request
	seen []string // origins that received a request
}

// RoundTrip implements http.RoundTripper.
func (n *redirecting) RoundTrip(r *http.Request) (*http.Response, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	n.sent = append(n.sent, Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body})
	n.seen = append(n.seen, r.URL.Scheme+"://"+r.URL.Host)
	response := &http.Response{
		StatusCode: n.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Body: http.NoBody,
		Header: http.Header{"Content-Type": {"text/event-stream"}},
	}
	if len(n.sent) > len(n.targets) {
		response.StatusCode = http.StatusOK
		return response, nil
	}
	response.Header.Set("Location", n.targets[len(n.sent)-1])
	return response, nil
}

func (n *redirecting) check(t *testing.T, err error) {
	t.Helper()
	for i, origin := range n.seen {
		if !strings.EqualFold(origin, "https://api.example.com") {
			t.Errorf("request %d went to %s with %v and %s", i+1, origin, n.sent[i].Header, n.sent[i].Body)
		}
	}
	failed, ok := errors.AsType[*model.Error](err)
	if !ok || failed.Retryable || failed.ContextOverflow || strings.Contains(failed.Error(), "key-that-leaks") {
		t.Fatalf("it ended with %#v", err)
	}
	if _, ok := errors.AsType[*model.RedirectError](err); !ok || !strings.Contains(failed.Message, "set the base URL") {
		t.Errorf("it ended with %v", err)
	}
}
