package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/tool"
)

// everyWay runs a test with the tools in the same process, and over gRPC.
func everyWay(t *testing.T, plugin sdk.Plugin, test func(t *testing.T, h *sdktest.Host)) {
	t.Helper()
	t.Run("direct", func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		t.Run("", func(t *testing.T) { test(t, sdktest.New(t, plugin)) })
	})
	t.Run("over the wire", func(t *testing.T) {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		t.Run("", func(t *testing.T) { test(t, sdktest.NewOverWire(t, plugin)) })
	})
}

// editor is an object whose methods come from the test.
type editor struct {
	call    func(ctx context.Context, in editIn) (string, error)
	partial func(ctx context.Context, soFar editIn)
	close   func() error
	busy    atomic.Bool
}

type editIn struct {
	Text string   `json:"text"`
	N    int      `json:"n,omitempty"`
	List []string `json:"list,omitempty"`
}

// enter fails the test if another method runs at the same time.
func (e *editor) enter() func() {
	if e.busy.Swap(true) {
		panic("two methods of an object at once")
	}
	return func() { e.busy.Store(false) }
}

func (e *editor) Call(ctx context.Context, in editIn) (string, error) {
	defer e.enter()()
	return e.call(ctx, in)
}

func (e *editor) Partial(ctx context.Context, soFar editIn) {
	defer e.enter()()
	if e.partial != nil {
		e.partial(ctx, soFar)
	}
}

func (e *editor) Close() error {
	defer e.enter()()
	return e.close()
}

func editPlugin(opener func(ctx context.Context) (*editor, error)) sdk.Plugin {
	return sdk.Plugin{Name: "p", Tools: []sdk.Tool{
		sdk.Object(sdk.Spec{Name: "x", Description: "x", PartialArguments: true}, opener),
	}}
}

func TestObjectIsClosedOnceHoweverTheCallEnds(t *testing.T) {
	tests := map[string]struct {
		call func(ctx context.Context, in editIn) (string, error)
		run  func(t *testing.T, s *sdktest.Stream) *sdktest.Call
		kind tool.Kind
	}{
		"success": {call: func(context.Context, editIn) (string, error) { return "done", nil }},
		"failure": {call: func(context.Context, editIn) (string, error) { return "", errors.New("no") }},
		"panic":   {call: func(context.Context, editIn) (string, error) { panic("x") }, kind: tool.KindInternal},
		"bad arguments": {run: func(_ *testing.T, s *sdktest.Stream) *sdktest.Call {
			s.Complete(`{"text":7}`)
			return s.Wait()
		}},
		"abandoned": {kind: tool.KindCancelled, run: func(_ *testing.T, s *sdktest.Stream) *sdktest.Call {
			s.Append(`{"text":"a`)
			s.WaitStatus(func(status tool.Status) bool { return status.Message == "a" })
			s.Cancel()
			return s.Wait()
		}},
		"cancelled at work": {
			kind: tool.KindCancelled,
			call: func(ctx context.Context, _ editIn) (string, error) {
				sdk.ReportStatus(ctx, sdk.Status{Message: "at work"})
				<-ctx.Done()
				return "", ctx.Err()
			},
			run: func(_ *testing.T, s *sdktest.Stream) *sdktest.Call {
				s.Complete(`{"text":"a"}`)
				s.WaitStatus(func(status tool.Status) bool { return status.Message == "at work" })
				s.Cancel()
				return s.Wait()
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var opened, closed atomic.Int32
			plugin := editPlugin(func(context.Context) (*editor, error) {
				opened.Add(1)
				return &editor{
					call:    tt.call,
					partial: func(ctx context.Context, in editIn) { sdk.ReportStatus(ctx, sdk.Status{Message: in.Text}) },
					close:   func() error { closed.Add(1); return errors.New("closing is hard") },
				}, nil
			})
			everyWay(t, plugin, func(t *testing.T, h *sdktest.Host) {
				opened.Store(0)
				closed.Store(0)
				s := h.Stream("x")
				var got *sdktest.Call
				if tt.run != nil {
					got = tt.run(t, s)
				} else {
					s.Complete(`{"text":"a"}`)
					got = s.Wait()
				}
				if opened.Load() != 1 || closed.Load() != 1 {
					t.Errorf("opened %d times, closed %d times; want once each", opened.Load(), closed.Load())
				}
				if kind := tool.KindOf(errOf(got)); kind != tt.kind {
					t.Errorf("kind %q (%v), want %q", kind, got.Err, tt.kind)
				}
			})
		})
	}
}

func TestOpeningFails(t *testing.T) {
	var fail func() (*editor, error)
	plugin := editPlugin(func(context.Context) (*editor, error) { return fail() })
	h := sdktest.New(t, plugin)
	for name, tt := range map[string]struct {
		fail func() (*editor, error)
		kind tool.Kind
	}{
		"tool error":  {func() (*editor, error) { return nil, errors.New("no editor") }, ""},
		"unavailable": {func() (*editor, error) { return nil, sdk.Unavailable("no editor") }, tool.KindUnavailable},
		"panic":       {func() (*editor, error) { panic("no editor") }, tool.KindInternal},
	} {
		t.Run(name, func(t *testing.T) {
			fail = tt.fail
			got := h.Call("x", `{"text":"a"}`)
			if tool.KindOf(errOf(got)) != tt.kind || got.IsError != (tt.kind == "") {
				t.Errorf("got %v and %q, want kind %q", got.Err, got.Text(), tt.kind)
			}
		})
	}
}

func TestPanicInCloseIsLogged(t *testing.T) {
	h := sdktest.New(t, editPlugin(func(context.Context) (*editor, error) {
		return &editor{
			call:  func(context.Context, editIn) (string, error) { return "done", nil },
			close: func() error { panic("x") },
		}, nil
	}))
	got := h.Call("x", `{"text":"a"}`)
	if got.Text() != "done" || len(got.Logs) != 1 || got.Logs[0].Level != tool.LogError {
		t.Errorf("result %q, %v, logs %+v; want the result, and one log record", got.Text(), got.Err, got.Logs)
	}
}

func TestPreviewsShowWhatHasArrivedToTheObjectThatExecutes(t *testing.T) {
	plugin := editPlugin(func(context.Context) (*editor, error) {
		e := &editor{close: func() error { return nil }}
		var last editIn
		e.partial = func(ctx context.Context, soFar editIn) {
			last = soFar
			text, _ := json.Marshal(soFar)
			sdk.ReportStatus(ctx, sdk.Status{Result: text})
		}
		e.call = func(_ context.Context, in editIn) (string, error) {
			return fmt.Sprintf("%s after %s", in.Text, last.Text), nil
		}
		return e, nil
	})
	everyWay(t, plugin, func(t *testing.T, h *sdktest.Host) {
		s := h.Stream("x")
		for _, step := range []struct{ piece, shown string }{
			{`{"te`, `{"text":""}`},
			{`xt":"hel`, `{"text":"hel"}`},
			{`lo \ud83d`, `{"text":"hello "}`},
			{`\ude00","n":1`, `{"text":"hello 😀"}`},
			{`2,"list":["a","b`, `{"text":"hello 😀","n":12,"list":["a","b"]}`},
		} {
			s.Append(step.piece)
			s.WaitStatus(func(status tool.Status) bool { return string(status.Result) == step.shown })
		}
		s.Complete(`{"text":"bye"}`) // a host may repair the text
		got := s.Wait()
		if got.Text() != "bye after hello 😀" {
			t.Errorf("got %q, %v", got.Text(), got.Err)
		}
		var states []tool.StatusState
		for _, status := range got.Statuses {
			if status.State != "" {
				states = append(states, status.State)
			}
		}
		if fmt.Sprint(states) != "[WAIT DOING SUCCESS]" {
			t.Errorf("states %v, want WAIT in previews, DOING, SUCCESS", states)
		}
	})
}

func TestPreviewsAreCoalesced(t *testing.T) {
	entered, proceed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var shown []string
	h := sdktest.New(t, editPlugin(func(context.Context) (*editor, error) {
		return &editor{
			partial: func(ctx context.Context, soFar editIn) {
				shown = append(shown, soFar.Text)
				once.Do(func() { close(entered); <-proceed })
				sdk.ReportStatus(ctx, sdk.Status{Message: soFar.Text})
			},
			call:  func(context.Context, editIn) (string, error) { return "", nil },
			close: func() error { return nil },
		}, nil
	}))
	s := h.Stream("x")
	s.Append(`{"text":"a`)
	<-entered
	for range 100 {
		s.Append("b")
	}
	s.Append("c") // accepted only after the earlier pieces
	s.Append("")
	close(proceed)
	s.WaitStatus(func(status tool.Status) bool { return len(status.Message) == 102 })
	s.Complete(nil)
	s.Wait()
	if len(shown) != 2 {
		t.Errorf("%d previews, want the first and the latest: %q", len(shown), shown)
	}
}

func TestCallWaitsForThePreviewToEnd(t *testing.T) {
	plugin := editPlugin(func(context.Context) (*editor, error) {
		ended := false
		return &editor{
			partial: func(ctx context.Context, _ editIn) {
				sdk.ReportStatus(ctx, sdk.Status{Message: "looking"})
				<-ctx.Done()
				ended = true
			},
			call:  func(context.Context, editIn) (string, error) { return fmt.Sprint(ended), nil },
			close: func() error { return nil },
		}, nil
	})
	everyWay(t, plugin, func(t *testing.T, h *sdktest.Host) {
		s := h.Stream("x")
		s.Append(`{"text":"a`)
		s.WaitStatus(func(status tool.Status) bool { return status.Message == "looking" })
		s.Complete(`{"text":"a"}`)
		if got := s.Wait(); got.Text() != "true" {
			t.Errorf("got %q, %v; Call ran beside Partial", got.Text(), got.Err)
		}
	})
}

func TestTextThatIsNoJSONEndsPreviewsAlone(t *testing.T) {
	h := sdktest.New(t, editPlugin(func(context.Context) (*editor, error) {
		return &editor{
			call:  func(_ context.Context, in editIn) (string, error) { return in.Text, nil },
			close: func() error { return nil },
		}, nil
	}))
	s := h.Stream("x")
	s.Append(`{'text'`)
	s.Append(`: 1`)
	s.Complete(`{"text":"repaired"}`)
	if got := s.Wait(); got.Text() != "repaired" {
		t.Errorf("got %q, %v", got.Text(), got.Err)
	}
	s = h.Stream("x")
	s.Append(`{'text'`)
	s.Complete(nil)
	if got := s.Wait(); !got.IsError {
		t.Errorf("got %q, %v; want an error that the model reads", got.Text(), got.Err)
	}
}

func TestPreviewsAreOnlyForToolsThatDeclareThem(t *testing.T) {
	for _, declared := range []bool{false, true} {
		var previews atomic.Int32
		seen := make(chan struct{}, 1)
		h := sdktest.New(t, sdk.Plugin{Name: "p", Tools: []sdk.Tool{
			sdk.Object(sdk.Spec{Name: "x", Description: "x", PartialArguments: declared},
				// the methods of the object are known only here
				func(context.Context) (sdk.Caller[editIn, string], error) {
					return &editor{
						partial: func(context.Context, editIn) { previews.Add(1); seen <- struct{}{} },
						call:    func(context.Context, editIn) (string, error) { return "", nil },
						close:   func() error { return nil },
					}, nil
				}),
		}})
		s := h.Stream("x")
		s.Append(`{"text":"a`)
		if declared {
			<-seen
		}
		s.Complete(`{"text":"a"}`)
		s.Wait()
		if got := previews.Load() > 0; got != declared {
			t.Errorf("declared %v, shown %v", declared, got)
		}
	}
}

// A panic in a preview ends the previews. The call continues, and the log has the panic.
func TestPanicInPreview(t *testing.T) {
	shown := make(chan struct{}, 1)
	h := sdktest.New(t, editPlugin(func(context.Context) (*editor, error) {
		return &editor{
			partial: func(context.Context, editIn) { shown <- struct{}{}; panic("no view today") },
			call:    func(_ context.Context, in editIn) (string, error) { return "wrote " + in.Text, nil },
			close:   func() error { return nil },
		}, nil
	}))
	s := h.Stream("x")
	s.Append(`{"text":"a`)
	<-shown
	s.Append(`b`)
	s.Complete(`{"text":"abc"}`)
	got := s.Wait()
	if got.Err != nil || got.Text() != "wrote abc" {
		t.Errorf("the call says %q, %v", got.Text(), got.Err)
	}
	if len(got.Logs) != 1 || got.Logs[0].Message != "the preview of tool panicked" {
		t.Errorf("the log has %+v", got.Logs)
	}
}

// A preview knows when the arguments are whole, also if the last bracket changes nothing else.
func TestArgumentsWhole(t *testing.T) {
	plugin := editPlugin(func(context.Context) (*editor, error) {
		return &editor{
			partial: func(ctx context.Context, soFar editIn) {
				sdk.ReportStatus(ctx, sdk.Status{Message: fmt.Sprint(soFar.Text, " ", sdk.ArgumentsWhole(ctx))})
			},
			call:  func(ctx context.Context, _ editIn) (string, error) { return fmt.Sprint(sdk.ArgumentsWhole(ctx)), nil },
			close: func() error { return nil },
		}, nil
	})
	everyWay(t, plugin, func(t *testing.T, h *sdktest.Host) {
		s := h.Stream("x")
		for _, step := range [][2]string{{`{"text":"a`, "a false"}, {`b"`, "ab false"}, {`}`, "ab true"}} {
			s.Append(step[0])
			s.WaitStatus(func(status tool.Status) bool { return status.Message == step[1] })
		}
		s.Append(" \n") // nothing new
		s.Complete(nil)
		got := s.Wait()
		if got.Text() != "false" {
			t.Errorf("outside of a preview it is %q", got.Text())
		}
		whole := 0
		for _, status := range got.Statuses {
			if status.Message == "ab true" {
				whole++
			}
		}
		if whole != 1 {
			t.Errorf("shown whole %d times: %+v", whole, got.Statuses)
		}
	})
}
