package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// socket returns an address in a new folder whose path is short enough for a socket.
func socket(t *testing.T) address.Address {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "client")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	a, err := address.Unix(filepath.Join(dir, "toolhost.sock"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serve serves a host. cut closes all connections and stops the server.
func serve(t *testing.T, a address.Address, host hostserver.Host) (cut func()) {
	t.Helper()
	listener, err := a.Listen(t.Context(), "toolhost")
	if err != nil {
		t.Fatal(err)
	}
	server := hostserver.NewServer(hostserver.Config{Host: host})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	cut = sync.OnceFunc(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(cut)
	return cut
}

func newHost(t *testing.T) *hosttest.Toolhost {
	t.Helper()
	return hosttest.New(t, nil, hosttest.Tools()...)
}

func dial(t *testing.T, a address.Address) *client.Client {
	t.Helper()
	c, err := client.Dial(a.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func echo(text string) tool.Call {
	return tool.Call{Tool: "echo", Arguments: json.RawMessage(`{"text":"` + text + `"}`)}
}

func wait(id string) tool.Call {
	return tool.Call{ID: id, Tool: "wait", Arguments: json.RawMessage(`{"key":"k"}`)}
}

// running opens a call of the tool wait and returns when the tool has started.
func running(t *testing.T, c *client.Client, id string) tool.Execution {
	t.Helper()
	e, err := c.Open(bounded(t), wait(id), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	begun(t, e)
	return e
}

// begun returns when the tool has received the call.
func begun(t *testing.T, e tool.Execution) {
	t.Helper()
	for {
		event, err := e.Next(bounded(t))
		if err != nil || event.Ended != nil {
			t.Fatalf("the call ended before it began: %+v, %v", event.Ended, err)
		}
		if event.Status != nil {
			return
		}
	}
}

func end(t *testing.T, e tool.Execution) *tool.Outcome {
	t.Helper()
	for {
		event, err := e.Next(bounded(t))
		if err != nil {
			t.Fatal(err)
		}
		if event.Ended != nil {
			if _, err := e.Next(bounded(t)); !errors.Is(err, io.EOF) {
				t.Errorf("after the end Next returned %v", err)
			}
			return event.Ended
		}
	}
}

func TestDialRefusesAnIllFormedAddress(t *testing.T) {
	for _, addr := range []string{"nonsense", "192.0.2.1:0", "-name:80", "host:99999", "unix://relative"} {
		if _, err := client.Dial(addr); tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%s: %v", addr, err)
		}
	}
	t.Setenv("TOOLHOST_ADDR", "unix:///from/environment.sock")
	c, err := client.Dial("")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.Addr(); got != "unix:///from/environment.sock" {
		t.Errorf("the address is %s", got)
	}
}

func TestNoServerAnswers(t *testing.T) {
	a := socket(t)
	c := dial(t, a)
	_, listErr := c.ListTools(bounded(t), tool.Query{})
	_, callErr := c.Call(bounded(t), echo("x"))
	for _, err := range []error{listErr, callErr} {
		if !errors.Is(err, client.ErrNoServer) || tool.KindOf(err) != tool.KindUnavailable ||
			!strings.Contains(err.Error(), "no toolhost answers at "+a.String()+": no such file") {
			t.Errorf("got %v", err)
		}
	}
	// The same client finds a server that starts later.
	serve(t, a, newHost(t))
	if outcome, err := c.Call(bounded(t), echo("x")); err != nil || outcome.Result.Text() != "x" {
		t.Errorf("got %+v, %v", outcome, err)
	}
	if _, err := c.ListTools(bounded(t), tool.Query{}); err != nil {
		t.Error(err)
	}
}

func TestALostConnectionEndsOpenCalls(t *testing.T) {
	a, host := socket(t), newHost(t)
	cut := serve(t, a, host)
	c := dial(t, a)
	named, nameless := running(t, c, "lost-1"), running(t, c, "")
	partial, err := c.Open(bounded(t), tool.Call{ID: "lost-2", Tool: "preview", Arguments: json.RawMessage(`{"te`)}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer partial.Close()
	begun(t, partial)
	cut()
	for _, test := range []struct {
		execution tool.Execution
		kind      tool.Kind
		says      string
	}{
		{named, tool.KindOutcomeUnknown, "sent again with the same call id"},
		{nameless, tool.KindOutcomeUnknown, "it had no call id"},
		{partial, tool.KindUnavailable, "was not executed"},
	} {
		o := end(t, test.execution)
		if o.Err == nil || o.Err.Kind != test.kind || !strings.Contains(o.Err.Message, test.says) || !errors.Is(o.Err, client.ErrNoServer) || o.CallID == "" {
			t.Errorf("got %+v (%v), want %s that says %q", o, o.Err, test.kind, test.says)
		}
		if err := test.execution.Send(bounded(t), []byte("x"), true); err != nil {
			t.Errorf("Send after the end: %v", err)
		}
	}
	serve(t, a, host)
	release(t, c)
	if outcome, err := c.Call(bounded(t), wait("lost-1")); err != nil || outcome.Result.Text() != "released" {
		t.Errorf("the same call id gives %+v, %v", outcome, err)
	}
}

func release(t *testing.T, c *client.Client) {
	t.Helper()
	if _, err := c.Call(bounded(t), tool.Call{Tool: "release", Arguments: json.RawMessage(`{"key":"k"}`)}); err != nil {
		t.Fatal(err)
	}
}

func TestCloseEndsOpenCallsAndTheClient(t *testing.T) {
	a := socket(t)
	serve(t, a, newHost(t))
	c := dial(t, a)
	e := running(t, c, "closed-1")
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if o := end(t, e); o.Err == nil || o.Err.Kind != tool.KindOutcomeUnknown {
		t.Errorf("got %+v", o)
	}
	if _, err := c.Call(bounded(t), echo("x")); tool.KindOf(err) != tool.KindCancelled {
		t.Errorf("Call after Close: %v", err)
	}
	if _, err := c.Admin().Plugins(bounded(t)); tool.KindOf(err) != tool.KindCancelled {
		t.Errorf("Plugins after Close: %v", err)
	}
}

func TestCallCancelsWithItsContext(t *testing.T) {
	a := socket(t)
	serve(t, a, newHost(t))
	c := dial(t, a)
	for _, id := range []string{"", "cancelled-1"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		outcome, err := c.Follow(ctx, wait(id), func(e tool.Event) {
			if e.Status != nil {
				cancel()
			}
		})
		if tool.KindOf(err) != tool.KindCancelled || outcome.Err == nil || outcome.Instance == "" {
			t.Errorf("%q: %+v, %v", id, outcome, err)
		}
	}
	outcome, err := c.Call(bounded(t), tool.Call{Tool: "waiting", Arguments: json.RawMessage(`{"key":"k"}`)})
	if err != nil || outcome.Result.Text() != "0" {
		t.Errorf("%s calls wait at the host, %v", outcome.Result.Text(), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, wait("")); tool.KindOf(err) != tool.KindTimeout {
		t.Errorf("at a deadline: %v", err)
	}
	if _, err := c.Call(ctx, echo("x")); tool.KindOf(err) != tool.KindTimeout {
		t.Errorf("after a deadline: %v", err)
	}
}

func TestLargeArguments(t *testing.T) {
	a := socket(t)
	serve(t, a, newHost(t))
	c := dial(t, a)
	for _, size := range []int{hostpb.Window - 100, hostpb.Window + 1, 10 << 20} {
		text := strings.Repeat("0123456789abcdef", size/16)
		outcome, err := c.Call(bounded(t), echo(text))
		if err != nil || outcome.Result.Text() != text {
			t.Errorf("%d bytes: %d came back, %v", len(text), len(outcome.Result.Text()), err)
		}
	}
}

func TestFirstCallsAtOnceShareAStream(t *testing.T) {
	a := socket(t)
	counted := &countingHost{Host: newHost(t)}
	serve(t, a, counted)
	c := dial(t, a)
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			if _, err := c.Call(bounded(t), echo("x")); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := counted.opened(); n != 200 {
		t.Errorf("%d calls arrived", n)
	}
}

type countingHost struct {
	hostserver.Host
	mutex sync.Mutex
	n     int
}

func (h *countingHost) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	h.mutex.Lock()
	h.n++
	h.mutex.Unlock()
	return h.Host.Open(ctx, call, complete)
}

func (h *countingHost) opened() int {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.n
}

func TestAClosedUnreadCallEnds(t *testing.T) {
	a := socket(t)
	serve(t, a, newHost(t))
	c := dial(t, a)
	call := tool.Call{ID: "unread-1", Tool: "steps", Arguments: json.RawMessage(`{"count":128,"bytes":16384}`)}
	e, err := c.Open(bounded(t), call, true)
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	if outcome, err := c.Call(bounded(t), call); err != nil || outcome.Result.Text() != "128 steps" {
		t.Errorf("got %+v, %v", outcome, err)
	}
}
