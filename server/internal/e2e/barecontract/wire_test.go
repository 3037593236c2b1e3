//go:build more

package barecontract

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/tool"
)

// wire makes calls directly on the connection to a plugin.
type wire struct{ conn *pluginwire.Conn }

func (w wire) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	started, err := w.conn.Start(ctx, pluginwire.Start{
		CallID: call.ID, Tool: call.Tool, Arguments: call.Arguments, Complete: complete, Timeout: call.Timeout,
		Session: call.Session, Values: call.Context, Traceparent: call.Traceparent,
	})
	if err != nil {
		return nil, err
	}
	return wireCall{started}, nil
}

type wireCall struct{ *pluginwire.Call }

func (c wireCall) Send(ctx context.Context, text []byte, complete bool) error {
	err := c.Append(ctx, text)
	if err == nil && complete {
		err = c.Complete(ctx, nil)
	}
	return err
}

// launch starts a plugin's process. At the end of the test it checks that the process has removed
// its files.
func launch(t *testing.T, p program) *process.Process {
	t.Helper()
	home := shortFolder(t)
	run := home + "/run"
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	var log syncbuf.Buffer
	launched, err := process.Launch(t.Context(), process.Config{
		Plugin: "bare", Instance: "bare-1", Path: p.install(t, home), RunDir: run,
		StartTimeout: patience, StopTimeout: patience, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		launched.Kill()
		<-launched.Done()
		if left, _ := os.ReadDir(run); len(left) > 0 {
			t.Errorf("left in the run folder: %v", left)
		}
		if t.Failed() {
			t.Logf("what the plugin printed:\n%s", log.String())
		}
	})
	return launched
}

func testWire(t *testing.T, p program) {
	launched := launch(t, p)
	w := wire{launched.Conn()}
	testCalls(t, w)
	t.Run("describe", func(t *testing.T) { testDescribe(t, launched.Conn()) })
	t.Run("context", func(t *testing.T) { testContext(t, launched.Conn()) })
	t.Run("arguments are replaced", func(t *testing.T) { testReplaced(t, launched.Conn()) })
	t.Run("many records to a slow reader", func(t *testing.T) { testChatter(t, w) })
}

func testDescribe(t *testing.T, conn *pluginwire.Conn) {
	all, err := conn.Describe(t.Context(), pluginwire.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Tools) != 12 || all.Name != "bare" || all.Version != "1.2.3" || !cmp.Equal(all.DefaultTags, []string{"fixture"}) {
		t.Errorf("the plugin says of itself %+v", all)
	}
	some, err := conn.Describe(t.Context(), pluginwire.DescribeRequest{Tools: []string{"draft", "nosuch"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(some.Tools) != 1 || some.Tools[0].Name != "draft" || !some.Tools[0].PartialArguments || !some.Tools[0].ReadOnly {
		t.Errorf("asked for draft, the plugin says %+v", some.Tools)
	}
}

func testContext(t *testing.T, conn *pluginwire.Conn) {
	call, err := conn.Start(t.Context(), pluginwire.Start{
		CallID: "call-4711", Tool: "describe_call", Arguments: json.RawMessage(`{}`), Complete: true, Attempt: 3,
		Session: "s-1", Workspace: "/nowhere", Values: map[string]json.RawMessage{"colour": json.RawMessage(`"grün"`)},
		Secrets: map[string]string{"token": "s3cret"}, Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	want := jsonBlock(`{"call_id":"call-4711","attempt":3,"session":"s-1","workspace":"/nowhere","values":{"colour":"grün"},
		"secrets":{"token":"s3cret"},"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}`)
	if diff := cmp.Diff(want, finish(t, wireCall{call}), sameCall); diff != "" {
		t.Errorf("what the call knows (-want +got):\n%s", diff)
	}
}

// testReplaced checks that the arguments in the frame `complete` replace the text that was sent
// before.
func testReplaced(t *testing.T, conn *pluginwire.Conn) {
	call, err := conn.Start(t.Context(), pluginwire.Start{Tool: "echo", Arguments: json.RawMessage(`{"n":"47`)})
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	if err := call.Append(t.Context(), []byte(`11",}`)); err != nil {
		t.Fatal(err)
	}
	if err := call.Complete(t.Context(), []byte(`{"n":4711}`)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(jsonBlock(`{"n":4711}`), finish(t, wireCall{call}), sameCall); diff != "" {
		t.Errorf("what was executed (-want +got):\n%s", diff)
	}
}

// testChatter checks that log records use credit, so that a slow reader holds back the tool.
func testChatter(t *testing.T, w wire) {
	const count = 2000
	e := open(t, w, tool.Call{Tool: "chatter", Arguments: json.RawMessage(fmt.Sprintf(`{"count":%d}`, count))}, true)
	defer e.Close()
	if got := perform(t, w, tool.Call{Tool: "echo", Arguments: json.RawMessage(`{}`)}); got.err != nil {
		t.Fatal(got.err)
	}
	got := finish(t, e)
	if len(got.logs) != count {
		t.Errorf("%d records came, want %d", len(got.logs), count)
	}
	got.logs = nil
	if diff := cmp.Diff(text(fmt.Sprintf("said %d", count)), got, sameCall); diff != "" {
		t.Errorf("how the call ended (-want +got):\n%s", diff)
	}
}
