package hostserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/hostpb"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// wire is a Connect stream as a caller in another language uses it.
type wire struct {
	t      *testing.T
	stream grpc.BidiStreamingClient[toolhostv1.ConnectRequest, toolhostv1.ConnectResponse]
}

func connect(t *testing.T, cfg hostserver.Config) *wire {
	t.Helper()
	a, _ := serve(t, socket(t), cfg)
	stream, err := tools(t, a).Connect(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	return &wire{t: t, stream: stream}
}

func (w *wire) send(r *toolhostv1.ConnectRequest) {
	w.t.Helper()
	if err := w.stream.Send(r); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) start(number uint32, name, arguments string, complete bool) {
	w.t.Helper()
	w.send(startFrame(number, name, arguments, complete))
}

func startFrame(number uint32, name, arguments string, complete bool) *toolhostv1.ConnectRequest {
	return &toolhostv1.ConnectRequest{Call: number, Frame: &toolhostv1.ConnectRequest_Start{Start: &toolhostv1.StartCall{
		Tool: name, Arguments: []byte(arguments), Complete: complete,
		Options: &toolhostv1.CallOptions{CallId: fmt.Sprintf("%s-%d", name, number)},
	}}}
}

func (w *wire) append(number uint32, text string) {
	w.t.Helper()
	w.send(appendFrame(number, []byte(text)))
}

func appendFrame(number uint32, text []byte) *toolhostv1.ConnectRequest {
	return &toolhostv1.ConnectRequest{Call: number, Frame: &toolhostv1.ConnectRequest_Append{Append: &toolhostv1.AppendArguments{Text: text}}}
}

func (w *wire) complete(number uint32) {
	w.t.Helper()
	w.send(&toolhostv1.ConnectRequest{Call: number, Frame: &toolhostv1.ConnectRequest_Complete{Complete: &toolhostv1.CompleteArguments{}}})
}

func (w *wire) cancel(number uint32) {
	w.t.Helper()
	w.send(&toolhostv1.ConnectRequest{Call: number, Frame: &toolhostv1.ConnectRequest_Cancel{Cancel: &toolhostv1.CancelCall{}}})
}

func (w *wire) grant(number uint32, bytes int) {
	w.t.Helper()
	w.send(&toolhostv1.ConnectRequest{Call: number, Frame: &toolhostv1.ConnectRequest_Credit{Credit: &toolhostv1.GrantCredit{Bytes: uint32(bytes)}}})
}

func (w *wire) recv() *toolhostv1.ConnectResponse {
	w.t.Helper()
	resp, err := w.stream.Recv()
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

// ended reads up to the next outcome, which must be that of number.
func (w *wire) ended(number uint32) *toolhostv1.CallEnded {
	w.t.Helper()
	for {
		resp := w.recv()
		if e := resp.GetEvent().GetEnded(); e != nil {
			if resp.GetCall() != number {
				w.t.Fatalf("call %d ended: %v; want call %d", resp.GetCall(), e, number)
			}
			return e
		}
	}
}

func (w *wire) endedWith(number uint32, kind toolv1.ErrorKind) {
	w.t.Helper()
	if e := w.ended(number); e.GetError().GetKind() != kind || e.GetError().GetMessage() == "" {
		w.t.Fatalf("call %d ended with %v, want %s", number, e, kind)
	}
}

func (w *wire) endedWithText(number uint32, text string) {
	w.t.Helper()
	if e := w.ended(number); e.GetResult().GetContent()[0].GetText() != text {
		w.t.Fatalf("call %d ended with %v, want %q", number, e, text)
	}
}

const invalid = toolv1.ErrorKind_ERROR_KIND_INVALID_ARGUMENT

func TestConnectAnswersWrongNumbers(t *testing.T) {
	w := connect(t, hostserver.Config{Host: newHost(t)})
	w.start(0, "echo", `{"text":"x"}`, true)
	w.endedWith(0, invalid)
	w.append(5, "x")
	w.endedWith(5, invalid)

	w.start(7, "echo", `{"text":`, false)
	w.start(7, "count", `{"key":"k"}`, true)
	w.endedWith(7, invalid)
	w.append(7, `"goes on"}`)
	w.complete(7)
	w.endedWithText(7, "goes on")

	// Frames for a call that has ended are not answered, and its number is free.
	w.append(7, "late")
	w.complete(7)
	w.cancel(7)
	w.grant(7, 1)
	w.start(7, "count", `{"key":"k"}`, true)
	w.endedWithText(7, "1")
	w.send(&toolhostv1.ConnectRequest{Call: 7})
	w.start(8, "echo", `{"text":"x"}`, true)
	w.endedWithText(8, "x")
}

func TestConnectStopsACallWhoseFramesAreOutOfOrder(t *testing.T) {
	w := connect(t, hostserver.Config{Host: newHost(t)})
	w.start(1, "wait", `{"key":"k"}`, true)
	w.append(1, "more")
	w.endedWith(1, invalid)
	w.start(2, "waiting", `{"key":"k"}`, true)
	w.ended(2)
}

func TestConnectRefusesATimeoutThatIsNotPositive(t *testing.T) {
	w := connect(t, hostserver.Config{Host: newHost(t)})
	w.send(&toolhostv1.ConnectRequest{Call: 1, Frame: &toolhostv1.ConnectRequest_Start{Start: &toolhostv1.StartCall{
		Tool: "echo", Complete: true, Options: &toolhostv1.CallOptions{CallId: "c1", Timeout: negative()},
	}}})
	e := w.ended(1)
	if e.GetError().GetKind() != invalid || e.GetCallId() != "c1" || e.GetError().GetCallId() != "c1" {
		t.Errorf("got %v", e)
	}
}

func TestConnectBoundsOpenCalls(t *testing.T) {
	w := connect(t, hostserver.Config{Host: newHost(t), MaxOpenCalls: 2})
	w.start(1, "echo", "", false)
	w.start(2, "echo", "", false)
	w.start(3, "echo", `{"text":"x"}`, true)
	w.endedWith(3, toolv1.ErrorKind_ERROR_KIND_RATE_LIMITED)
	w.cancel(1)
	w.endedWith(1, toolv1.ErrorKind_ERROR_KIND_CANCELLED)
	w.start(3, "echo", `{"text":"x"}`, true)
	w.endedWithText(3, "x")
}

// prompt is a host whose calls end at once if their callers want only the outcome.
type prompt struct{ hostserver.Host }

func (p prompt) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	if !call.OutcomeOnly {
		return p.Host.Open(ctx, call, complete)
	}
	return promptExecution{call: call.ID}, nil
}

type promptExecution struct {
	tool.Execution
	call string
}

func (e promptExecution) Next(context.Context) (tool.Event, error) {
	return tool.Event{Ended: &tool.Outcome{CallID: e.call, Result: tool.TextResult(strings.Repeat("x", 8<<10))}}, nil
}

func (promptExecution) Close() {}

// A caller that starts calls and does not read must not fill toolhost's memory with outcomes.
func TestConnectLimitsUnreadOutcomes(t *testing.T) {
	w := connect(t, hostserver.Config{Host: prompt{newHost(t)}, MaxOpenCalls: 8})
	const calls = 2000 // the stream accepts some hundreds of them
	for number := range uint32(calls) {
		w.send(&toolhostv1.ConnectRequest{Call: number + 1, Frame: &toolhostv1.ConnectRequest_Start{Start: &toolhostv1.StartCall{
			Tool: "echo", Arguments: []byte("{}"), Complete: true, Options: &toolhostv1.CallOptions{OutcomeOnly: true},
		}}})
	}
	refused := 0
	for range calls {
		if w.recv().GetEvent().GetEnded().GetError().GetKind() == toolv1.ErrorKind_ERROR_KIND_RATE_LIMITED {
			refused++
		}
	}
	if refused == 0 {
		t.Errorf("all of %d calls were made whose ends nobody read", calls)
	}
	w.start(calls+1, "echo", `{"text":"x"}`, true)
	w.endedWithText(calls+1, "x")
}

func TestConnectSendsNoMoreThanTheCredit(t *testing.T) {
	w := connect(t, hostserver.Config{Host: newHost(t)})
	const count, size = 64, 16 << 10 // 1 MiB of statuses
	w.start(1, "steps", fmt.Sprintf(`{"count":%d,"bytes":%d}`, count, size), true)
	got := 0
	for got < hostpb.Window {
		got += proto.Size(w.recv().GetEvent())
	}
	// Call 1 has used its credit, so the other calls have the stream for themselves.
	for i := uint32(2); i < 10; i++ {
		w.start(i, "echo", `{"text":"x"}`, true)
		for {
			resp := w.recv()
			if resp.GetCall() == 1 {
				t.Fatalf("after %d bytes without credit came %d more", got, proto.Size(resp.GetEvent()))
			}
			if resp.GetEvent().GetEnded() != nil {
				break
			}
		}
	}
	w.grant(1, count*(size+1024))
	w.endedWithText(1, "64 steps")
}

func TestConnectNumbersEveryEvent(t *testing.T) {
	w := connect(t, hostserver.Config{Host: newHost(t)})
	w.start(1, "steps", `{"count":600,"bytes":10}`, true)
	for want := uint64(1); ; want++ {
		event := w.recv().GetEvent()
		if event.GetSeq() != want || !event.GetTime().IsValid() {
			t.Fatalf("event %d has seq %d and time %v", want, event.GetSeq(), event.GetTime())
		}
		if event.GetEnded() != nil {
			if want != 602 {
				t.Errorf("the end is event %d, want 602", want)
			}
			return
		}
	}
}

func TestConnectEndsAfterHalfClose(t *testing.T) {
	host := newHost(t)
	w := connect(t, hostserver.Config{Host: host})
	w.start(1, "wait", `{"key":"k"}`, true)
	for w.recv().GetEvent().GetStatus() == nil {
	}
	w.start(2, "count", `{"key":"k"`, false)
	w.start(3, "release", `{"key":"k"}`, false)
	w.complete(3)
	if err := w.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	ends := map[uint32]*toolhostv1.CallEnded{}
	for {
		resp, err := w.stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e := resp.GetEvent().GetEnded(); e != nil {
			ends[resp.GetCall()] = e
		}
	}
	if got := ends[1].GetResult().GetContent(); len(got) != 1 || got[0].GetText() != "released" {
		t.Errorf("the call that was complete ended with %v", ends[1])
	}
	if e := ends[2].GetError(); e.GetKind() != toolv1.ErrorKind_ERROR_KIND_CANCELLED || !strings.Contains(e.GetMessage(), "nothing was executed") {
		t.Errorf("the call that was not complete ended with %v", ends[2])
	}
}

func TestExecute(t *testing.T) {
	a, _ := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	service := tools(t, a)
	start := func(name, arguments string, complete bool) *toolhostv1.ExecuteRequest {
		return &toolhostv1.ExecuteRequest{Frame: &toolhostv1.ExecuteRequest_Start{Start: &toolhostv1.StartCall{Tool: name, Arguments: []byte(arguments), Complete: complete}}}
	}
	more := func(text string) *toolhostv1.ExecuteRequest {
		return &toolhostv1.ExecuteRequest{Frame: &toolhostv1.ExecuteRequest_Append{Append: &toolhostv1.AppendArguments{Text: []byte(text)}}}
	}
	complete := &toolhostv1.ExecuteRequest{Frame: &toolhostv1.ExecuteRequest_Complete{}}
	cancel := &toolhostv1.ExecuteRequest{Frame: &toolhostv1.ExecuteRequest_Cancel{}}
	tests := []struct {
		name      string
		frames    []*toolhostv1.ExecuteRequest
		halfClose bool
		text      string
		kind      tool.Kind
	}{
		{name: "whole", frames: []*toolhostv1.ExecuteRequest{start("echo", `{"text":"x"}`, true)}, text: "x"},
		{name: "whole and half-closed", frames: []*toolhostv1.ExecuteRequest{start("echo", `{"text":"x"}`, true)}, halfClose: true, text: "x"},
		{name: "pieces", frames: []*toolhostv1.ExecuteRequest{start("echo", `{"te`, false), more(`xt":`), more(`"y"}`), complete}, text: "y"},
		{name: "pieces and half-closed", frames: []*toolhostv1.ExecuteRequest{start("echo", `{"text":"y"}`, false), complete}, halfClose: true, text: "y"},
		{name: "large", frames: []*toolhostv1.ExecuteRequest{start("steps", `{"count":200,"bytes":16384}`, true)}, text: "200 steps"},
		{name: "nothing", halfClose: true, kind: tool.KindInvalidArgument},
		{name: "no start", frames: []*toolhostv1.ExecuteRequest{complete}, kind: tool.KindInvalidArgument},
		{name: "two starts", frames: []*toolhostv1.ExecuteRequest{start("wait", `{"key":"k"}`, true), start("wait", `{"key":"k"}`, true)}, kind: tool.KindInvalidArgument},
		{name: "text after the end", frames: []*toolhostv1.ExecuteRequest{start("wait", `{"key":"k"}`, true), more("x")}, kind: tool.KindInvalidArgument},
		{name: "abandoned", frames: []*toolhostv1.ExecuteRequest{start("count", `{"key":"k"}`, false)}, halfClose: true, kind: tool.KindCancelled},
		{name: "cancelled", frames: []*toolhostv1.ExecuteRequest{start("wait", `{"key":"k"}`, true), cancel}, kind: tool.KindCancelled},
		{name: "absent", frames: []*toolhostv1.ExecuteRequest{start("absent", `{}`, true)}, kind: tool.KindNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			stream, err := service.Execute(bounded(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, frame := range test.frames {
				if err := stream.Send(frame); err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
			}
			if test.halfClose {
				if err := stream.CloseSend(); err != nil {
					t.Fatal(err)
				}
			}
			outcome := lastOutcome(t, stream)
			switch {
			case test.kind != "":
				if outcome.Err == nil || outcome.Err.Kind != test.kind {
					t.Errorf("got %+v, want %s", outcome, test.kind)
				}
			case outcome.Err != nil || outcome.Result.Text() != test.text:
				t.Errorf("got %+v (%v), want %q", outcome, outcome.Err, test.text)
			}
		})
	}
}

// lastOutcome reads a stream to its regular end and returns its only outcome.
func lastOutcome(t *testing.T, stream grpc.BidiStreamingClient[toolhostv1.ExecuteRequest, toolhostv1.ExecuteResponse]) *tool.Outcome {
	t.Helper()
	var joiner hostpb.Joiner
	var outcome *tool.Outcome
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) && outcome != nil {
			return outcome
		}
		if err != nil || outcome != nil {
			t.Fatalf("got %v, %v after the outcome %v", resp, err, outcome)
		}
		if e, ok := joiner.Add(resp.GetEvent()); ok {
			outcome = e.Ended
		}
	}
}

func negative() *durationpb.Duration { return durationpb.New(-time.Second) }

// Answers to refused calls wait for a caller that may never read them, so they must stay small.
func TestConnectDoesNotRepeatAnInvalidID(t *testing.T) {
	w := connect(t, hostserver.Config{Host: newHost(t)})
	for id, told := range map[string]string{"mine": "mine", strings.Repeat("x", 1<<20): "", "no id": ""} {
		w.send(&toolhostv1.ConnectRequest{Call: 0, Frame: &toolhostv1.ConnectRequest_Start{Start: &toolhostv1.StartCall{
			Tool: "echo", Complete: true, Options: &toolhostv1.CallOptions{CallId: id},
		}}})
		if e := w.ended(0); e.GetCallId() != told || e.GetError().GetCallId() != told {
			t.Errorf("the call %.20q was refused with an end of %d bytes", id, proto.Size(e))
		}
	}
}

// A caller may send a call before it knows that the server has begun to shut down.
func TestCallDuringShutdown(t *testing.T) {
	for !calledDuringShutdown(t) {
	}
}

// calledDuringShutdown reports false if this process was too slow to call in time.
func calledDuringShutdown(t *testing.T) bool {
	t.Helper()
	a, server := serve(t, socket(t), hostserver.Config{Host: newHost(t)})
	stream, err := tools(t, a).Connect(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, stream: stream}
	w.start(1, "echo", `{"text":"before"}`, true)
	w.endedWithText(1, "before")
	begun := time.Now()
	done := make(chan error, 1)
	go func() { done <- server.Shutdown(bounded(t)) }()
	for {
		if _, err := os.Stat(a.Path()); errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	_ = stream.Send(startFrame(2, "echo", `{"text":"late"}`, true)) // if the stream has ended, Recv says so
	text := ""
	for text == "" {
		resp, err := stream.Recv()
		if time.Since(begun) > time.Second {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		if e := resp.GetEvent().GetEnded(); e != nil {
			text = e.String()
		}
	}
	if !strings.Contains(text, "late") {
		t.Errorf("a call during the shutdown ended with %s", text)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the stream ended with %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	return true
}
