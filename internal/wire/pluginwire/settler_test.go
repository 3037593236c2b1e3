package pluginwire_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// settler is a handler that can say what became of a call, and fails the test if it executes one.
type settler struct {
	plugin
	settle func(ctx context.Context, call *pluginwire.ServerCall) (tool.Settlement, error)
}

func (s settler) Settle(ctx context.Context, call *pluginwire.ServerCall) (tool.Settlement, error) {
	return s.settle(ctx, call)
}

// askSettle asks a plugin what became of the call "c-1", and returns the end. It sends the frames
// in then as soon as the handler says that it has begun.
func askSettle(t *testing.T, handler pluginwire.Handler, timeout time.Duration, begun <-chan struct{}, then ...*pluginv1.ConnectRequest) *pluginv1.CallEnd {
	t.Helper()
	cc, _ := serve(t, func(s *grpc.Server) { pluginwire.Register(s, handler, quiet) })
	stream, err := pluginv1.NewToolPluginServiceClient(cc).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	start := &pluginv1.StartCall{CallId: "c-1", Tool: "pay", Arguments: []byte(`{"n":1}`), Complete: true, Settle: true}
	if timeout > 0 {
		start.Timeout = durationpb.New(timeout)
	}
	frames := append([]*pluginv1.ConnectRequest{{Call: 7, Frame: &pluginv1.ConnectRequest_Start{Start: start}}}, then...)
	for i, frame := range frames {
		if i == 1 {
			<-begun
		}
		if err := stream.Send(frame); err != nil {
			t.Fatal(err)
		}
	}
	for {
		frame, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if frame.GetEnd() != nil {
			return frame.GetEnd()
		}
	}
}

func neverExecuted(t *testing.T) plugin {
	return plugin{call: func(context.Context, *pluginwire.ServerCall) (tool.Result, error) {
		t.Error("the call was executed")
		return tool.TextResult("executed"), nil
	}}
}

func TestSettle(t *testing.T) {
	var seen pluginwire.Start
	happened := pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_HAPPENED
	unknown := pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_UNKNOWN
	for name, tt := range map[string]struct {
		says    tool.Settlement
		verdict pluginv1.SettlementVerdict
		text    string // of the result
		reason  int    // the length in bytes
	}{
		"happened":       {says: tool.Settlement{Verdict: tool.VerdictHappened, Reason: "found"}, verdict: happened, reason: 5},
		"with a result":  {says: tool.Settlement{Verdict: tool.VerdictHappened, Result: new(tool.TextResult("paid"))}, verdict: happened, text: "paid"},
		"large result":   {says: tool.Settlement{Verdict: tool.VerdictHappened, Result: new(tool.TextResult(strings.Repeat("x", 2<<20)))}, verdict: happened},
		"did not happen": {says: tool.Settlement{Verdict: tool.VerdictDidNotHappen}, verdict: pluginv1.SettlementVerdict_SETTLEMENT_VERDICT_DID_NOT_HAPPEN},
		"does not know":  {says: tool.Settlement{}, verdict: unknown},
		"result of a call that may not have happened": {says: tool.Settlement{Result: new(tool.TextResult("paid"))}, verdict: unknown},
		"other word":  {says: tool.Settlement{Verdict: "maybe"}, verdict: unknown},
		"long reason": {says: tool.Settlement{Reason: strings.Repeat("x", 5000) + "\xff"}, verdict: unknown, reason: 1 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			end := askSettle(t, settler{neverExecuted(t), func(ctx context.Context, call *pluginwire.ServerCall) (tool.Settlement, error) {
				seen = call.Start()
				text, complete, err := call.NextArguments(ctx)
				if string(text) != `{"n":1}` || !complete || err != nil {
					t.Errorf("the arguments are %q, %v, %v", text, complete, err)
				}
				return tt.says, nil
			}}, 0, nil)
			got := end.GetSettlement()
			if got == nil || got.GetCallId() != "c-1" || got.GetVerdict() != tt.verdict || len(got.GetReason()) != tt.reason {
				t.Fatalf("ended with %v", end)
			}
			if text := got.GetResult().GetContent(); len(text) > 0 != (tt.text != "") || len(text) > 0 && text[0].GetText() != tt.text {
				t.Errorf("the result is %v", got.GetResult())
			}
			if seen.CallID != "c-1" || seen.Tool != "pay" || !seen.Settle {
				t.Errorf("the handler was asked about %+v", seen)
			}
		})
	}
}

func TestSettleFails(t *testing.T) {
	begun := make(chan struct{}, 1)
	hangs := func(ctx context.Context, _ *pluginwire.ServerCall) (tool.Settlement, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return tool.Settlement{Verdict: tool.VerdictHappened}, ctx.Err()
	}
	cancel := &pluginv1.ConnectRequest{Call: 7, Frame: &pluginv1.ConnectRequest_Cancel{Cancel: &pluginv1.CancelCall{}}}
	for name, tt := range map[string]struct {
		handler func(t *testing.T) pluginwire.Handler
		timeout time.Duration
		then    []*pluginv1.ConnectRequest
		kind    toolv1.ErrorKind
	}{
		"no check": {
			handler: func(t *testing.T) pluginwire.Handler { return neverExecuted(t) },
			kind:    toolv1.ErrorKind_ERROR_KIND_UNSUPPORTED,
		},
		"error": {
			handler: func(t *testing.T) pluginwire.Handler {
				return settler{neverExecuted(t), func(context.Context, *pluginwire.ServerCall) (tool.Settlement, error) {
					return tool.Settlement{Verdict: tool.VerdictHappened}, tool.Errorf(tool.KindUnavailable, "no database")
				}}
			},
			kind: toolv1.ErrorKind_ERROR_KIND_UNAVAILABLE,
		},
		"panic": {
			handler: func(t *testing.T) pluginwire.Handler {
				return settler{neverExecuted(t), func(context.Context, *pluginwire.ServerCall) (tool.Settlement, error) { panic("x") }}
			},
			kind: toolv1.ErrorKind_ERROR_KIND_INTERNAL,
		},
		"cancelled": {
			handler: func(t *testing.T) pluginwire.Handler { return settler{neverExecuted(t), hangs} },
			then:    []*pluginv1.ConnectRequest{cancel},
			kind:    toolv1.ErrorKind_ERROR_KIND_CANCELLED,
		},
		"late": {
			handler: func(t *testing.T) pluginwire.Handler { return settler{neverExecuted(t), hangs} },
			timeout: time.Millisecond,
			kind:    toolv1.ErrorKind_ERROR_KIND_TIMEOUT,
		},
	} {
		t.Run(name, func(t *testing.T) {
			end := askSettle(t, tt.handler(t), tt.timeout, begun, tt.then...)
			if end.GetSettlement() != nil || end.GetError().GetKind() != tt.kind {
				t.Errorf("ended with %v, want an error of kind %v", end, tt.kind)
			}
		})
	}
}
