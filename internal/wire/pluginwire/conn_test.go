package pluginwire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

func TestManyCallsAtOnce(t *testing.T) {
	conn := open(t, echo, pluginwire.ConnConfig{})
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			arguments := fmt.Sprintf(`{"n":%d}`, i)
			call, err := conn.Start(t.Context(), pluginwire.Start{CallID: fmt.Sprint(i), Arguments: []byte(arguments), Complete: true})
			if err != nil {
				t.Error(err)
				return
			}
			defer call.Close()
			out := outcome(t, call)
			wantText(t, out, arguments)
			if out.CallID != fmt.Sprint(i) {
				t.Errorf("call %d ended as %q", i, out.CallID)
			}
		})
	}
	wg.Wait()
}

func TestStartReachesThePlugin(t *testing.T) {
	sent := pluginwire.Start{
		CallID: "c1", Tool: "t", Complete: true, Timeout: time.Hour, Attempt: 3, Session: "s", Workspace: "/w",
		Values:  map[string]json.RawMessage{"todos": json.RawMessage(`[1]`)},
		Secrets: map[string]string{"KEY": "secret"}, Traceparent: "00-1-2-3",
	}
	got := make(chan pluginwire.Start, 1)
	deadline := make(chan bool, 1)
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		got <- call.Start()
		_, ok := ctx.Deadline()
		deadline <- ok
		return tool.Result{}, nil
	}}, pluginwire.ConnConfig{})
	outcome(t, start(t, conn, sent))
	if diff := cmp.Diff(sent, <-got); diff != "" {
		t.Errorf("(-sent +got):\n%s", diff)
	}
	if !<-deadline {
		t.Error("the timeout is no deadline")
	}

	outcome(t, start(t, conn, pluginwire.Start{Tool: "t", Complete: true}))
	if diff := cmp.Diff(pluginwire.Start{Tool: "t", Complete: true, Attempt: 1}, <-got); diff != "" {
		t.Errorf("of defaults (-want +got):\n%s", diff)
	}
	if <-deadline {
		t.Error("a deadline without a timeout")
	}
}

func TestStartThatCannotBeSentHarmsNoOther(t *testing.T) {
	conn := open(t, echo, pluginwire.ConnConfig{})
	other := start(t, conn, pluginwire.Start{Arguments: []byte(`{"a"`)})
	_, err := conn.Start(t.Context(), pluginwire.Start{
		Values: map[string]json.RawMessage{"big": json.RawMessage(strings.Repeat("1", 5<<20))},
	})
	if kind := tool.KindOf(err); kind != tool.KindInvalidArgument {
		t.Errorf("values of 5 MiB: %v", err)
	}
	bad := start(t, conn, pluginwire.Start{
		CallID: "\xff", Tool: "\xff", Session: "\xff", Workspace: "\xff", Traceparent: "\xff", Complete: true,
		Values: map[string]json.RawMessage{"\xff": json.RawMessage(`1`)}, Secrets: map[string]string{"\xff": "\xff"},
		Arguments: []byte("\xff"),
	})
	bad.Cancel("\xff")
	outcome(t, bad)
	if err := other.Complete(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	wantText(t, outcome(t, other), `{"a"`)
}

func TestCancelReachesThePluginWithItsReason(t *testing.T) {
	started, cause := make(chan struct{}, 1), make(chan error, 1)
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		started <- struct{}{}
		<-ctx.Done()
		cause <- context.Cause(ctx)
		if call.Start().Tool == "answers" {
			return tool.TextResult("half done"), nil
		}
		return tool.Result{}, fmt.Errorf("working: %w", ctx.Err())
	}}, pluginwire.ConnConfig{})
	for _, name := range []string{"answers", "gives up"} {
		t.Run(name, func(t *testing.T) {
			call := start(t, conn, pluginwire.Start{Tool: name, Complete: true})
			<-started
			call.Cancel("enough")
			call.Cancel("more than enough")
			err := <-cause
			if tool.KindOf(err) != tool.KindCancelled || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "enough") {
				t.Errorf("the plugin's cause: %v", err)
			}
			out := outcome(t, call)
			if name == "answers" {
				wantText(t, out, "half done")
				return
			}
			wantKind(t, out, tool.KindCancelled)
			if out.Err != nil && !strings.Contains(out.Err.Message, "enough") {
				t.Errorf("message %q", out.Err.Message)
			}
		})
	}
}

func TestCloseCancelsAndForgets(t *testing.T) {
	cause := make(chan error, 1)
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		if call.Start().Tool == "quick" {
			return tool.TextResult("quick"), nil
		}
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return tool.Result{}, nil
	}}, pluginwire.ConnConfig{})
	call := start(t, conn, pluginwire.Start{Tool: "slow", Complete: true})
	call.Close()
	call.Close()
	if kind := tool.KindOf(<-cause); kind != tool.KindCancelled {
		t.Errorf("the plugin's cause is %s", kind)
	}
	if _, err := call.Next(t.Context()); tool.KindOf(err) != tool.KindCancelled {
		t.Errorf("Next after Close: %v", err)
	}
	if err := call.Append(t.Context(), []byte("x")); err != nil {
		t.Errorf("Append after Close: %v", err)
	}
	wantText(t, outcome(t, start(t, conn, pluginwire.Start{Tool: "quick", Complete: true})), "quick")
}

func TestDeadlineReachesThePlugin(t *testing.T) {
	conn := open(t, plugin{call: func(ctx context.Context, _ *pluginwire.ServerCall) (tool.Result, error) {
		<-ctx.Done()
		if err := context.Cause(ctx); tool.KindOf(err) != tool.KindTimeout {
			return tool.Result{}, fmt.Errorf("the cause is %v", err)
		}
		return tool.Result{}, ctx.Err()
	}}, pluginwire.ConnConfig{})
	for _, timeout := range []time.Duration{1, -time.Second} {
		out := outcome(t, start(t, conn, pluginwire.Start{Complete: true, Timeout: timeout}))
		wantKind(t, out, tool.KindTimeout)
	}
}

func TestHandlerErrorsKeepTheirKind(t *testing.T) {
	full := &tool.Error{Kind: tool.KindRateLimited, Message: "slow down", RetryAfter: time.Minute}
	for _, tt := range []struct {
		name string
		err  error
		want *tool.Error
	}{
		{"typed", full, full},
		{"wrapped", fmt.Errorf("calling upstream: %w", full), full},
		{"plain", errors.New("plain"), &tool.Error{Kind: tool.KindInternal, Message: "plain"}},
		{"deadline of its own", context.DeadlineExceeded, &tool.Error{Kind: tool.KindTimeout, Message: "context deadline exceeded"}},
		{
			"not the plugin's to say", &tool.Error{Kind: tool.KindCrashed, CallID: "x", Plugin: "other", Instance: "other-1", Exit: &tool.Exit{Code: 3}},
			&tool.Error{Kind: tool.KindCrashed},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn := open(t, plugin{call: func(context.Context, *pluginwire.ServerCall) (tool.Result, error) {
				return tool.TextResult("ignored"), tt.err
			}}, pluginwire.ConnConfig{})
			want := *tt.want
			want.CallID = "c1"
			out := outcome(t, start(t, conn, pluginwire.Start{CallID: "c1", Complete: true}))
			if diff := cmp.Diff(&want, out.Err, cmpopts.IgnoreFields(tool.Error{}, "Err")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLostConnectionEndsItsCalls(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(conn *pluginwire.Conn, stop func())
	}{
		{"the plugin is gone", func(_ *pluginwire.Conn, stop func()) { stop() }},
		{"closed", func(conn *pluginwire.Conn, _ func()) { _ = conn.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			started := make(chan struct{})
			conn, stop := openStoppable(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
				err := call.Send(ctx, tool.Event{Status: &tool.Status{Message: "on my way"}})
				close(started)
				<-ctx.Done()
				return tool.Result{}, err
			}})
			call := start(t, conn, pluginwire.Start{CallID: "c1", Complete: true})
			<-started
			if conn.Err() != nil {
				t.Errorf("Err before the loss: %v", conn.Err())
			}
			if _, err := call.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			tt.lose(conn, stop)
			for range 2 {
				_, err := call.Next(t.Context())
				wantLost(t, err)
				if e := tool.AsError(err); e.CallID != "c1" {
					t.Errorf("call id %q", e.CallID)
				}
			}
			<-conn.Done()
			wantLost(t, conn.Err())
			_, err := conn.Start(t.Context(), pluginwire.Start{})
			wantLost(t, err)
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
			call.Cancel("too late")
			call.Close()
		})
	}
}

// wantLost checks that err says that the connection was lost.
func wantLost(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, pluginwire.ErrConnLost) || tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("got %v, want ErrConnLost of kind unavailable", err)
	}
}

func TestOpenIsBoundedAndOnce(t *testing.T) {
	conn := open(t, echo, pluginwire.ConnConfig{})
	if err := conn.Open(t.Context()); err == nil {
		t.Error("a second Open")
	}
	wantText(t, outcome(t, start(t, conn, pluginwire.Start{Arguments: []byte("1"), Complete: true})), "1")

	cc, _ := serve(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	closed := pluginwire.NewConn(cc, pluginwire.ConnConfig{})
	wantLost(t, closed.Open(ctx))
	wantLost(t, closed.Err())
	if err := closed.Close(); err != nil {
		t.Error(err)
	}

	unopened := pluginwire.NewConn(cc, pluginwire.ConnConfig{})
	if _, err := unopened.Start(t.Context(), pluginwire.Start{}); err == nil {
		t.Error("Start without Open")
	}
	_ = unopened.Close()
	wantLost(t, unopened.Open(t.Context()))
	<-unopened.Done()
}

func TestOpenWithoutAPlugin(t *testing.T) {
	cc, _ := serve(t, nil) // no service is registered
	conn := openOn(t, cc, pluginwire.ConnConfig{})
	<-conn.Done()
	wantLost(t, conn.Err())
	if !strings.Contains(conn.Err().Error(), "unknown service") {
		t.Errorf("the reason is not told: %v", conn.Err())
	}
}

func TestPanicEndsOnlyItsCall(t *testing.T) {
	conn := open(t, plugin{
		call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
			if call.Start().Tool == "panics" {
				panic("kaboom")
			}
			return echo.call(ctx, call)
		},
		describe: func(context.Context, pluginwire.DescribeRequest) (tool.Description, error) { panic("kaboom") },
	}, pluginwire.ConnConfig{})
	other := start(t, conn, pluginwire.Start{})
	out := outcome(t, start(t, conn, pluginwire.Start{Tool: "panics", Complete: true}))
	wantKind(t, out, tool.KindInternal)
	if out.Err != nil && !strings.Contains(out.Err.Message, "kaboom") {
		t.Errorf("message %q", out.Err.Message)
	}
	if _, err := conn.Describe(t.Context(), pluginwire.DescribeRequest{}); tool.KindOf(err) != tool.KindInternal || !strings.Contains(err.Error(), "kaboom") {
		t.Errorf("Describe: %v", err)
	}
	if err := other.Complete(t.Context(), []byte("still here")); err != nil {
		t.Fatal(err)
	}
	wantText(t, outcome(t, other), "still here")
}

func TestDescribe(t *testing.T) {
	want := tool.Description{
		Name: "fs", Version: "1", Description: "Files.", DefaultTags: []string{"io"},
		SDK:     &tool.SDKInfo{Name: "sdk", Version: "7"},
		Tools:   []tool.Spec{{Name: "a", InputSchema: json.RawMessage(`{}`)}, {Name: "b", Timeout: time.Second}},
		Filters: []tool.Filter{{Name: "f", Description: "Looks.", Before: true, After: true}},
	}
	request := pluginwire.DescribeRequest{
		Tools: []string{"a"}, Session: "s", Context: map[string]json.RawMessage{"k": json.RawMessage(`1`)},
	}
	cc, _ := serve(t, register(plugin{describe: func(_ context.Context, req pluginwire.DescribeRequest) (tool.Description, error) {
		if diff := cmp.Diff(request, req); diff != "" {
			return tool.Description{}, tool.Errorf(tool.KindNotFound, "no such request:\n%s", diff)
		}
		return want, nil
	}}))
	conn := pluginwire.NewConn(cc, pluginwire.ConnConfig{}) // not open
	defer conn.Close()
	got, err := conn.Describe(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := conn.Describe(t.Context(), pluginwire.DescribeRequest{}); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("an error of the plugin: %v", err)
	}
}

// Invalid JSON from a plugin does not make a list of tools unencodable.
func TestDescriptionCanBeEncoded(t *testing.T) {
	cc, _ := serve(t, register(plugin{describe: func(context.Context, pluginwire.DescribeRequest) (tool.Description, error) {
		return tool.Description{Tools: []tool.Spec{{
			Name:     "a",
			Metadata: map[string]json.RawMessage{"good": json.RawMessage(`1`), "bad": json.RawMessage(`{`)},
			InputExamples: []tool.InputExample{
				{Description: "bad", Arguments: json.RawMessage(`[1]`)}, {Description: "none"},
				{Description: "good", Arguments: json.RawMessage(`{"a":1}`)},
			},
		}}}, nil
	}}))
	conn := pluginwire.NewConn(cc, pluginwire.ConnConfig{})
	defer conn.Close()
	got, err := conn.Describe(t.Context(), pluginwire.DescribeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	want := tool.Description{Tools: []tool.Spec{{
		Name:          "a",
		Metadata:      map[string]json.RawMessage{"good": json.RawMessage(`1`), "bad": json.RawMessage(`"{"`)},
		InputExamples: []tool.InputExample{{Description: "good", Arguments: json.RawMessage(`{"a":1}`)}},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}
