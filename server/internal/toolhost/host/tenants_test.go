package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	rpcgate "github.com/toolhost/toolhost/server/internal/access/gate"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// servedAt returns a client of a host that is served at an address until the test ends.
func servedAt(t *testing.T, h hostserver.Host, at string) *client.Client {
	t.Helper()
	addr, err := address.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := addr.Listen(t.Context(), "toolhost")
	if err != nil {
		t.Fatal(err)
	}
	server, done := hostserver.NewServer(hostserver.Config{Host: h, Gate: rpcgate.New(rpcgate.Config{
		Rights: hostserver.Rights(), Policy: rpcgate.Always(rpcgate.LocalPolicy(rpcgate.Anonymous("caller"))),
	})}), make(chan error, 1)
	go func() { done <- server.Serve(listener) }() // ends with Shutdown; the cleanup waits for it
	c, err := client.Dial(listener.Address().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = server.Shutdown(ctx)
		<-done
	})
	return c
}

// tenants returns two clients of one host with different principals: a user of this machine over
// the socket, and an unknown user over loopback.
func tenants(t *testing.T, change func(*host.Config)) (mine, theirs *client.Client) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "host") // short enough for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r := newRig(t, hosttest.Tools(), change)
	return servedAt(t, r, "unix://"+filepath.Join(dir, "t.sock")), servedAt(t, r, "127.0.0.1:0")
}

// named returns a call in the session that both tenants use.
func named(id, name, arguments string) tool.Call {
	c := call(name, arguments)
	c.ID, c.Session = id, "s"
	return c
}

// The same session and call id of two principals are two calls. Neither principal can follow,
// cancel or replay the call of the other.
func TestTenantsShareNoCalls(t *testing.T) {
	mine, theirs := tenants(t, nil)
	key := tool.CallKey{Session: "s", ID: "one"}
	waiting, err := mine.Open(t.Context(), named("one", "wait", `{"key":"k"}`), true)
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	if ev, err := waiting.Next(t.Context()); err != nil || ev.Started == nil {
		t.Fatalf("the call began with %+v, %v", ev, err)
	}
	for _, err := range theirs.WatchCall(t.Context(), key, 0) {
		if tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("WatchCall of another's call: %v", err)
		}
	}
	if err := theirs.CancelCall(t.Context(), key, "not mine"); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("CancelCall of another's call: %v", err)
	}
	if got, err := theirs.Call(t.Context(), named("one", "echo", `{"text":"other"}`)); err != nil || got.Replayed || got.Result.Text() != "other" {
		t.Errorf("their call of the same id: %+v, %v", got, err)
	}
	if err := mine.CancelCall(t.Context(), key, "enough"); err != nil {
		t.Error(err)
	}
	if got := end(t, waiting); got.Err == nil || got.Err.Kind != tool.KindCancelled || !strings.Contains(got.Err.Message, "enough") {
		t.Errorf("my call ended with %+v", got)
	}
	for ev, err := range theirs.WatchCall(t.Context(), key, 0) {
		if err != nil || ev.Ended != nil && ev.Ended.Result.Text() != "other" {
			t.Errorf("their call, watched: %+v, %v", ev, err)
		}
	}
}

// The process of a session belongs to its principal.
func TestTenantsShareNoSessions(t *testing.T) {
	mine, theirs := tenants(t, func(cfg *host.Config) {
		cfg.Lifecycle = func(string) lifecycle.Config { return lifecycle.Config{Isolation: lifecycle.PerSession} }
	})
	instance := func(c *client.Client, id string) string {
		got, err := c.Call(t.Context(), named(id, "echo", `{"text":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		return got.Instance
	}
	first, other, again := instance(mine, "a"), instance(theirs, "a"), instance(mine, "b")
	if first == other || first != again {
		t.Errorf("my calls were made by %s and %s, theirs by %s", first, again, other)
	}
}

// Only its principal can use the handle of an artifact.
func TestTenantsShareNoArtifacts(t *testing.T) {
	mine, theirs := tenants(t, withArtifacts(t))
	got, err := mine.Call(t.Context(), named("large", "large", `{"bytes":300000,"kind":"text"}`))
	if err != nil || len(got.Result.Content) < 2 || got.Result.Content[1].Artifact == nil {
		t.Fatalf("the result is %+v, %v", got.Result.Content, err)
	}
	handle := got.Result.Content[1].Artifact.Handle
	query := tool.ArtifactQuery{Session: "s", Handle: handle}
	if piece, err := mine.ReadArtifact(t.Context(), query); err != nil || len(piece.Data) == 0 {
		t.Errorf("my artifact: %d bytes, %v", len(piece.Data), err)
	}
	if _, err := theirs.ReadArtifact(t.Context(), query); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("another's artifact: %v", err)
	}
	sum, err := theirs.Call(t.Context(), named("sum", "sum", `{"handle":"`+handle+`"}`))
	if err == nil && !sum.Result.IsError {
		t.Errorf("a tool of theirs read it: %+v", sum.Result)
	}
}
