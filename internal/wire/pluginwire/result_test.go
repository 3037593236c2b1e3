package pluginwire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

func answer(result tool.Result) plugin {
	return plugin{call: func(context.Context, *pluginwire.ServerCall) (tool.Result, error) { return result, nil }}
}

func TestLargeResults(t *testing.T) {
	text := strings.Repeat("aä€😀", 100<<10)
	data := bytes.Repeat([]byte{0, 1, 2, 255}, 50<<10)
	large := json.RawMessage(`"` + strings.Repeat("x", 200<<10) + `"`)
	manyMiddling := make([]tool.Content, 200)
	for i := range manyMiddling {
		manyMiddling[i] = tool.Text(fmt.Sprint(i, strings.Repeat("y", 60<<10)))
	}
	for _, tt := range []struct {
		name    string
		content []tool.Content
	}{
		{"every kind", []tool.Content{
			tool.Text("small"), tool.Text(text), tool.JSON(large), tool.Image("image/png", data),
			tool.File("f", "application/octet-stream", data), tool.JSON(json.RawMessage(`1`)), tool.Text(""),
		}},
		{"many that are middling", manyMiddling},
		{"exactly a piece", []tool.Content{tool.Text(strings.Repeat("z", 64<<10)), tool.Text("more")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sent := tool.Result{Content: tt.content, IsError: true, Effects: []tool.Effect{
				{Key: "k", Operation: tool.EffectAppend, Value: json.RawMessage(`1`)},
			}}
			conn := open(t, answer(sent), pluginwire.ConnConfig{})
			out := outcome(t, start(t, conn, pluginwire.Start{Complete: true}))
			if out.Err != nil {
				t.Fatal(out.Err)
			}
			if !reflect.DeepEqual(sent, out.Result) {
				t.Errorf("%d blocks of %d bytes became %d of %d", len(sent.Content), len(sent.Text()), len(out.Result.Content), len(out.Result.Text()))
			}
			if tt.content[1].Text == "" && tt.name == "every kind" {
				t.Error("the handler's own result was changed")
			}
		})
	}
}

func TestTextThatIsNoUTF8(t *testing.T) {
	text := strings.Repeat("\xffa", 100<<10)
	conn := open(t, answer(tool.TextResult(text)), pluginwire.ConnConfig{})
	out := outcome(t, start(t, conn, pluginwire.Start{Complete: true}))
	wantText(t, out, strings.ReplaceAll(text, "\xff", "\uFFFD"))
}

// A result of 10 MiB that no goroutine reads does not block other calls.
func TestLargeResultBlocksNoOtherCall(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 10<<20/16)
	answering := make(chan struct{}, 1)
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		if call.Start().Tool == "large" {
			answering <- struct{}{}
			return tool.TextResult(large), nil
		}
		return echo.call(ctx, call)
	}}, pluginwire.ConnConfig{})
	unread := start(t, conn, pluginwire.Start{Tool: "large", Complete: true})
	abandoned := start(t, conn, pluginwire.Start{Tool: "large", Complete: true})
	<-answering
	<-answering
	for i := range 50 {
		arguments := fmt.Sprint(i)
		wantText(t, outcome(t, start(t, conn, pluginwire.Start{Arguments: []byte(arguments), Complete: true})), arguments)
	}
	abandoned.Close()
	wantText(t, outcome(t, unread), large)
}

func TestResultThatIsTooLarge(t *testing.T) {
	cause := make(chan error, 1)
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		if call.Start().Tool != "large" {
			return tool.TextResult(strings.Repeat("x", 300<<10)), nil
		}
		context.AfterFunc(ctx, func() { cause <- context.Cause(ctx) })
		return tool.TextResult(strings.Repeat("x", 10<<20)), nil
	}}, pluginwire.ConnConfig{MaxResultBytes: 300 << 10})
	out := outcome(t, start(t, conn, pluginwire.Start{Tool: "large", Complete: true}))
	wantKind(t, out, tool.KindInternal)
	if out.Err != nil && !strings.Contains(out.Err.Message, "307200") {
		t.Errorf("the limit is not told: %q", out.Err.Message)
	}
	if err := <-cause; tool.KindOf(err) != tool.KindCancelled || !strings.Contains(err.Error(), "307200") {
		t.Errorf("the plugin was told %v", err)
	}
	wantText(t, outcome(t, start(t, conn, pluginwire.Start{Complete: true})), strings.Repeat("x", 300<<10))
}

func TestResultThatCannotBeSent(t *testing.T) {
	for name, result := range map[string]tool.Result{
		"effects": {Effects: []tool.Effect{{Key: "k", Value: json.RawMessage(`"` + strings.Repeat("x", 5<<20) + `"`)}}},
		"blocks":  {Content: make([]tool.Content, 10_000)},
	} {
		t.Run(name, func(t *testing.T) {
			conn := open(t, answer(result), pluginwire.ConnConfig{})
			wantKind(t, outcome(t, start(t, conn, pluginwire.Start{Complete: true})), tool.KindInternal)
		})
	}
	t.Run("error", func(t *testing.T) {
		conn := open(t, plugin{call: func(context.Context, *pluginwire.ServerCall) (tool.Result, error) {
			return tool.Result{}, &tool.Error{Kind: tool.KindDenied, Message: strings.Repeat("ü", 5<<20), CallID: strings.Repeat("x", 5<<20)}
		}}, pluginwire.ConnConfig{})
		wantKind(t, outcome(t, start(t, conn, pluginwire.Start{Complete: true})), tool.KindDenied)
	})
}

// A plugin can send only as much as its credit allows while no goroutine reads.
func TestUnreadEventsAreBounded(t *testing.T) {
	const events, kib, window = 200, 1 << 10, 16 << 10
	sent := make(chan struct{}, events)
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		if call.Start().Tool != "talks" {
			return echo.call(ctx, call)
		}
		for i := range events {
			event := tool.Event{Status: &tool.Status{Message: fmt.Sprint(i) + strings.Repeat(".", kib)}}
			if i%2 == 1 {
				event = tool.Event{Log: &tool.LogRecord{Level: tool.LogDebug, Message: fmt.Sprint(i) + strings.Repeat(".", kib)}}
			}
			if err := call.Send(ctx, event); err != nil {
				return tool.Result{}, err
			}
			sent <- struct{}{}
		}
		return tool.TextResult("done"), nil
	}}, pluginwire.ConnConfig{CallWindow: window})
	call := start(t, conn, pluginwire.Start{Tool: "talks", Complete: true})
	for range window / (kib + 64) { // the credit allows at least this many
		<-sent
	}
	for range 50 {
		wantText(t, outcome(t, start(t, conn, pluginwire.Start{Arguments: []byte("1"), Complete: true})), "1")
	}
	if n := window/(kib+64) + len(sent); n > window/kib+1 {
		t.Errorf("%d events of 1 KiB were sent into a window of 16 KiB", n)
	}
	got, out := follow(t, call)
	wantText(t, out, "done")
	if len(got) != events {
		t.Fatalf("%d of %d events arrived", len(got), events)
	}
	for i, event := range got {
		var text string
		if event.Status != nil {
			text = event.Status.Message
		} else {
			text = event.Log.Message
		}
		if !strings.HasPrefix(text, fmt.Sprint(i)+".") {
			t.Errorf("event %d is %q", i, clip(text))
		}
	}
}

func TestSendGivesUp(t *testing.T) {
	errs := make(chan error, 3)
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		errs <- call.Send(ctx, tool.Event{Log: &tool.LogRecord{Message: strings.Repeat("x", 2<<20)}})
		errs <- call.Send(ctx, tool.Event{})
		for {
			// A handler that ignores its context is also woken.
			if err := call.Send(context.WithoutCancel(ctx), tool.Event{Status: &tool.Status{Message: "…"}}); err != nil {
				errs <- err
				return tool.Result{}, err
			}
		}
	}}, pluginwire.ConnConfig{CallWindow: 100})
	call := start(t, conn, pluginwire.Start{Complete: true})
	if err := <-errs; tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("a record of 2 MiB: %v", err)
	}
	if err := <-errs; err != nil {
		t.Errorf("an empty event: %v", err)
	}
	call.Cancel("enough")
	if err := <-errs; tool.KindOf(err) != tool.KindCancelled {
		t.Errorf("after cancel: %v", err)
	}
	_, out := follow(t, call)
	wantKind(t, out, tool.KindCancelled)
}

func TestSendAfterTheEnd(t *testing.T) {
	late := make(chan *pluginwire.ServerCall, 1)
	conn := open(t, plugin{call: func(_ context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		late <- call
		return tool.Result{}, nil
	}}, pluginwire.ConnConfig{})
	outcome(t, start(t, conn, pluginwire.Start{Complete: true}))
	err := (<-late).Send(t.Context(), tool.Event{Status: &tool.Status{Message: "late"}})
	if tool.KindOf(err) != tool.KindCancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
