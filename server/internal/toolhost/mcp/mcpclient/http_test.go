package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/sdk/egress"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpclient/urlserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// bothVersions runs a test with a server of each version of the protocol.
func bothVersions(t *testing.T, test func(t *testing.T, s *urlserver.Server)) {
	for _, version := range []urlserver.Version{urlserver.Former, urlserver.Modern} {
		t.Run(string(version), func(t *testing.T) { test(t, &urlserver.Server{Version: version}) })
	}
}

// serve returns the URL of a server.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL + "/mcp"
}

// loopback returns a transport that may connect to loopback.
func loopback(t *testing.T) *http.Transport {
	t.Helper()
	allow, err := egress.ParseGrants([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	transport := egress.Config{Rules: egress.Rules{Allow: allow, GrantedOnly: true}}.Transport()
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// openURL begins a session with a server.
func openURL(t *testing.T, url string, change func(*Config, *HTTPConfig)) (*Conn, error) {
	t.Helper()
	cfg := Config{Plugin: "test", MaxResultBytes: 1 << 20}
	server := HTTPConfig{URL: url, RoundTripper: loopback(t), AnswerTimeout: patience, IdleTimeout: patience}
	if change != nil {
		change(&cfg, &server)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := OpenHTTP(ctx, cfg, server)
	if err == nil {
		t.Cleanup(func() {
			_ = conn.Close()
			<-conn.Done()
		})
	}
	return conn, err
}

func mustOpen(t *testing.T, url string, change func(*Config, *HTTPConfig)) *Conn {
	t.Helper()
	conn, err := openURL(t, url, change)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// do calls the tool do of a server.
func do(t *testing.T, conn *Conn, what string) (tool.Outcome, error) {
	t.Helper()
	return callURL(t, conn, "do", what, nil)
}

// callURL calls a tool and returns its outcome. seen, if not nil, receives the events before it.
func callURL(t *testing.T, conn *Conn, name, text string, seen func(pluginconn.Call, tool.Event)) (tool.Outcome, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	arguments, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	call, err := conn.Start(ctx, pluginconn.Start{Tool: name, Arguments: arguments, Complete: true})
	if err != nil {
		return tool.Outcome{}, err
	}
	defer call.Close()
	for {
		ev, err := call.Next(ctx)
		switch {
		case err != nil:
			return tool.Outcome{}, err
		case ev.Ended != nil:
			return *ev.Ended, nil
		case seen != nil:
			seen(call, ev)
		}
	}
}

func textOf(o tool.Outcome) string {
	if len(o.Result.Content) == 0 {
		return ""
	}
	return o.Result.Content[0].Text
}

// TestURL checks calls of a server at a URL in each version of the protocol.
func TestURL(t *testing.T) {
	bothVersions(t, func(t *testing.T, s *urlserver.Server) {
		conn := mustOpen(t, serve(t, s), nil)
		d, err := conn.Describe(t.Context(), pluginconn.DescribeRequest{})
		if err != nil || len(d.Tools) != 2 || d.Version != "1.2.3" || conn.Protocol() != string(s.Version) {
			t.Fatalf("%+v, %v, %s", d, err, conn.Protocol())
		}
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				if out, err := callURL(t, conn, "echo", "hello", nil); err != nil || textOf(out) != "hello" {
					t.Errorf("%+v, %v", out, err)
				}
			})
		}
		calls.Wait()
		progress := 0
		out, err := callURL(t, conn, "do", "stream", func(_ pluginconn.Call, ev tool.Event) {
			if ev.Status != nil {
				progress++
			}
		})
		if err != nil || textOf(out) != "streamed" || progress == 0 {
			t.Errorf("a stream: %+v, %v, %d times progress", out, err, progress)
		}
		if v := s.Violations(); len(v) > 0 {
			t.Errorf("the client violates the protocol: %q", v)
		}
	})
}

// TestHostileURL checks that whatever a server does with one call, that call gets a typed error,
// and the session serves the others.
func TestHostileURL(t *testing.T) {
	bothVersions(t, func(t *testing.T, s *urlserver.Server) {
		foreign := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request reached another origin") }))
		defer foreign.Close()
		s.Elsewhere = foreign.URL
		address := serve(t, s)
		conn := mustOpen(t, address, nil)
		hasty := mustOpen(t, address, func(_ *Config, server *HTTPConfig) { server.IdleTimeout = 300 * time.Millisecond })
		for what, want := range map[string]struct {
			kind tool.Kind
			text string
		}{
			"refuse":        {tool.KindInternal, "out of order"},
			"crash":         {tool.KindOutcomeUnknown, "it closed the connection"},
			"crash-stream":  {tool.KindOutcomeUnknown, "it closed the connection"},
			"close":         {tool.KindOutcomeUnknown, "it closed the connection"},
			"lie":           {"", "the truth"},
			"lie-json":      {tool.KindInternal, "answered another request"},
			"flood":         {"", "after the flood"},
			"big":           {tool.KindInternal, "larger than"},
			"big-event":     {tool.KindInternal, "larger than"},
			"endless":       {"", "answered"},
			"html":          {tool.KindInternal, "neither JSON nor a stream"},
			"garbage":       {tool.KindInternal, "no JSON-RPC message"},
			"empty":         {tool.KindInternal, "neither JSON nor a stream"},
			"redirect":      {tool.KindUnavailable, "another origin"},
			"redirect-here": {"", "unknown: redirect-here"},
			"status-500":    {tool.KindOutcomeUnknown, "HTTP status 500"},
			"status-429":    {tool.KindRateLimited, "429"},
			"other-session": {"", "another session"},
			"question":      {"", "asked"},
			"wait":          {tool.KindOutcomeUnknown, "silent for too long"},
		} {
			if what == "redirect-here" {
				continue // the server would redirect again: see TestRedirects
			}
			near := make(chan error, 1)
			go func() { // ends with its call
				out, err := callURL(t, conn, "echo", "near", nil)
				if err == nil && textOf(out) != "near" {
					err = fmt.Errorf("%+v", out)
				}
				near <- err
			}()
			to := conn
			if what == "wait" {
				to = hasty // other answers may take longer on a busy machine
			}
			out, err := do(t, to, what)
			kind, text := tool.Kind(""), textOf(out)
			if out.Err != nil {
				kind, text = out.Err.Kind, out.Err.Message
			}
			if err := <-near; err != nil {
				t.Errorf("a call beside %s: %v", what, err)
			}
			if err != nil || kind != want.kind || !strings.Contains(text, want.text) {
				t.Errorf("%s: %q, %q, %v", what, kind, text, err)
			}
			if what == "status-429" && out.Err != nil && out.Err.RetryAfter != 7*time.Second {
				t.Errorf("it may be called again after %v", out.Err.RetryAfter)
			}
			if out, err := callURL(t, conn, "echo", "and on", nil); err != nil || textOf(out) != "and on" {
				t.Errorf("after %s: %+v, %v", what, out, err)
			}
		}
	})
}

// TestCancellationOfURL checks that a canceled call ends at the server and here, and that a call to
// a server that hangs ends with its caller.
func TestCancellationOfURL(t *testing.T) {
	bothVersions(t, func(t *testing.T, s *urlserver.Server) {
		conn := mustOpen(t, serve(t, s), nil)
		out, err := callURL(t, conn, "do", "wait", func(c pluginconn.Call, _ tool.Event) { c.Cancel("enough") })
		if err != nil || out.Err == nil || out.Err.Kind != tool.KindCancelled {
			t.Errorf("%+v, %v", out, err)
		}
		eventually.Holds(t, "the server knows of it", func() bool { return s.Executions("canceled") == 1 })
		for _, what := range []string{"hang", "drip"} {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			call, err := conn.Start(ctx, pluginconn.Start{Tool: "do", Arguments: json.RawMessage(`{"text":"` + what + `"}`), Complete: true})
			if err != nil {
				t.Fatal(err)
			}
			eventually.Holds(t, "the call arrives", func() bool { return s.Executions(what) == 1 })
			call.Cancel("too long")
			ev, err := call.Next(ctx)
			if err != nil || ev.Ended == nil || ev.Ended.Err.Kind != tool.KindCancelled {
				t.Errorf("%s: %+v, %v", what, ev, err)
			}
			call.Close()
		}
	})
}

// TestResumption checks that the former version fetches the answer of a stream that the server
// closed, after the pause that the server demands, and that the modern version does not.
func TestResumption(t *testing.T) {
	bothVersions(t, func(t *testing.T, s *urlserver.Server) {
		conn := mustOpen(t, serve(t, s), nil)
		out, err := do(t, conn, "resume")
		switch {
		case err != nil:
			t.Error(err)
		case s.Version == urlserver.Former && textOf(out) != "resumed":
			t.Errorf("it was not resumed: %+v", out)
		case s.Version == urlserver.Modern && (out.Err == nil || out.Err.Kind != tool.KindOutcomeUnknown):
			t.Errorf("it was resumed: %+v", out)
		}
		if v := s.Violations(); len(v) > 0 {
			t.Errorf("the client violates the protocol: %q", v)
		}
	})
}

// TestLossOfASession checks that a call that an ended session refuses was not taken, so that
// another session can execute it.
func TestLossOfASession(t *testing.T) {
	s := &urlserver.Server{Version: urlserver.Former}
	conn := mustOpen(t, serve(t, s), nil)
	s.Forget()
	if _, err := do(t, conn, "once"); !errors.Is(err, pluginconn.ErrNotTaken) {
		t.Errorf("the call ended with %v", err)
	}
	<-conn.Done()
	if err := conn.Ended(); !errors.Is(err, ErrSessionGone) {
		t.Errorf("the session ended with %v", err)
	}
	if s.Executions("once") != 0 {
		t.Error("it was executed")
	}
}

// TestBreaker checks that a session ends when the server does not work several times in a row, and
// not before.
func TestBreaker(t *testing.T) {
	bothVersions(t, func(t *testing.T, s *urlserver.Server) {
		conn := mustOpen(t, serve(t, s), nil)
		for range 2 {
			s.Refuse(maxFailures - 1)
			for range maxFailures - 1 {
				out, err := do(t, conn, "x")
				if err != nil || out.Err == nil || out.Err.Kind != tool.KindUnavailable {
					t.Fatalf("%+v, %v", out, err)
				}
			}
			if out, err := do(t, conn, "x"); err != nil || out.Err != nil {
				t.Fatalf("%+v, %v", out, err)
			}
		}
		s.Refuse(maxFailures)
		for range maxFailures {
			_, _ = do(t, conn, "x")
		}
		<-conn.Done()
		if err := conn.Ended(); err == nil || errors.Is(err, ErrSessionGone) {
			t.Errorf("the session ended with %v", err)
		}
	})
}

// TestChangesOverURL checks that a change of the tools is noticed, also after the stream of news
// broke.
func TestChangesOverURL(t *testing.T) {
	bothVersions(t, func(t *testing.T, s *urlserver.Server) {
		var pins []tool.Spec
		conn := mustOpen(t, serve(t, s), func(cfg *Config, _ *HTTPConfig) { cfg.Pinned = func() []tool.Spec { return pins } })
		d, err := conn.Describe(t.Context(), pluginconn.DescribeRequest{})
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		pins = d.Tools
		conn = mustOpen(t, serve(t, s), func(cfg *Config, _ *HTTPConfig) { cfg.Pinned = func() []tool.Spec { return pins } })
		s.Announce("") // the stream of news ends, and is opened again
		if out, err := do(t, conn, "change"); err != nil || textOf(out) != "changed" {
			t.Fatalf("%+v, %v", out, err)
		}
		eventually.Holds(t, "the changed tool is refused", func() bool {
			_, err := callURL(t, conn, "echo", "x", nil)
			return err != nil && strings.Contains(err.Error(), "toolhost trust --diff test")
		})
	})
}

// TestRefusedAddresses checks that a URL that leads to this host is refused, by name and by
// address, unless an operator permits the address.
func TestRefusedAddresses(t *testing.T) {
	url := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request reached the server") }))
	var log bytes.Buffer
	for _, to := range []string{url, strings.Replace(url, "127.0.0.1", "localhost", 1)} {
		_, err := openURL(t, to, func(cfg *Config, server *HTTPConfig) {
			server.RoundTripper, cfg.Log = egress.Config{}.Transport(), &log
		})
		if err == nil || !strings.Contains(err.Error(), "it leads to this host; an operator can permit it: plugin.test.http.addresses") {
			t.Errorf("%s: %v", to, err)
		}
	}
	if !strings.Contains(log.String(), "a connection to 127.0.0.1 was refused") {
		t.Errorf("the log does not show the address: %s", &log)
	}
}

// TestRedirects checks that a redirect within the origin keeps the request, and that others are
// refused.
func TestRedirects(t *testing.T) {
	for name, test := range map[string]struct {
		to     string
		status int
		want   string
	}{
		"a path":            {"/mcp/", http.StatusTemporaryRedirect, ""},
		"another status":    {"/mcp/", http.StatusFound, "does not follow"},
		"another port":      {"http://127.0.0.1:1/mcp", http.StatusTemporaryRedirect, "another origin"},
		"another scheme":    {"https://127.0.0.1/mcp", http.StatusTemporaryRedirect, "another origin"},
		"the metadata":      {"http://169.254.169.254/latest", http.StatusTemporaryRedirect, "another origin"},
		"with a credential": {"http://a:b@HOST/mcp/", http.StatusTemporaryRedirect, "another origin"},
		"a loop":            {"/mcp", http.StatusTemporaryRedirect, "does not follow"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &urlserver.Server{Version: urlserver.Modern}
			url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/mcp/" {
					s.ServeHTTP(w, r)
					return
				}
				http.Redirect(w, r, strings.Replace(test.to, "HOST", r.Host, 1), test.status)
			}))
			_, err := openURL(t, url, nil)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestUnusableURLs checks the reasons why a session does not begin.
func TestUnusableURLs(t *testing.T) {
	answer := func(status int, kind, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
	for want, h := range map[string]http.Handler{
		"other credentials (HTTP status 401)": answer(401, "text/html", "no"),
		"forbids":                             answer(403, "text/html", "no"),
		"there is no MCP server at the URL":   answer(404, "text/html", "no"),
		"neither JSON nor a stream":           answer(200, "text/html", "<h1>Welcome</h1>"),
		"no JSON-RPC message":                 answer(200, "application/json", "{}"),
		"it did not answer in time": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client leaves
			<-r.Context().Done()
		}),
	} {
		_, err := openURL(t, serve(t, h), func(_ *Config, server *HTTPConfig) { server.AnswerTimeout = 200 * time.Millisecond })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestDeniedLaunch checks that the error of a transport without credentials stays typed, so that a
// launch is refused and the plugin does not back off.
func TestDeniedLaunch(t *testing.T) {
	_, err := openURL(t, "http://127.0.0.1:1/mcp", func(_ *Config, server *HTTPConfig) {
		server.RoundTripper = transportFunc(func(*http.Request) (*http.Response, error) {
			return nil, tool.Errorf(tool.KindDenied, "log in with `toolhost mcp login test`")
		})
	})
	if denied, ok := errors.AsType[*tool.Error](err); !ok || denied.Kind != tool.KindDenied || denied.Message != "log in with `toolhost mcp login test`" {
		t.Errorf("%v", err)
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// FuzzEvents checks that no stream makes the reader of events use more than its bound, or loop.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("id: 1\nretry: 10\ndata: a\ndata: b\n\n: c\n\nevent: x\r\ndata\r\n\r\n"))
	f.Add([]byte(strings.Repeat("data: x\n", 1000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		const most = 256
		from := newEvents(bytes.NewReader(data), most)
		for range len(data) + 1 {
			ev, err := from.next()
			if err != nil {
				return
			}
			if len(ev.data) > most || len(ev.id) > most || ev.retry > maxRetryPause {
				t.Fatalf("an event of %d bytes: %+v", len(ev.data), ev)
			}
		}
		t.Fatal("there are more events than bytes")
	})
}

func TestEvents(t *testing.T) {
	from := newEvents(strings.NewReader(": c\n\nid: 7\nretry: 70\ndata: a\ndata: b\n\nevent: x\r\ndata:{}\r\n\r\nid: a b\ndata: c\n\ndata: lost\n"), 1<<10)
	var got []event
	for {
		ev, err := from.next()
		if err != nil {
			break
		}
		got = append(got, ev)
	}
	want := []event{{}, {id: "7", retry: 70 * time.Millisecond, data: []byte("a\nb")}, {name: "x", data: []byte("{}")}, {data: []byte("c")}}
	if !slices.EqualFunc(got, want, func(a, b event) bool {
		return a.id == b.id && a.name == b.name && a.retry == b.retry && bytes.Equal(a.data, b.data)
	}) {
		t.Errorf("%+v", got)
	}
}
