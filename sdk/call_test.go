package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/tool"
)

type named string

func TestResults(t *testing.T) {
	text := []sdk.Content{{Kind: tool.ContentText, Text: "a"}}
	jsonBlock := func(s string) []sdk.Content { return []sdk.Content{tool.JSON(json.RawMessage(s))} }
	tests := map[string]struct {
		value any
		want  sdk.Result
	}{
		"string":         {"a", sdk.Result{Content: text}},
		"nil":            {nil, sdk.Result{}},
		"empty struct":   {struct{}{}, sdk.Result{}},
		"nil pointer":    {(*nested)(nil), sdk.Result{}},
		"nil result":     {(*sdk.Result)(nil), sdk.Result{}},
		"result":         {sdk.Result{Content: text, Cost: 2}, sdk.Result{Content: text, Cost: 2}},
		"result pointer": {&sdk.Result{Content: text}, sdk.Result{Content: text}},
		"error result":   {sdk.Result{Content: text, IsError: true, Effects: []sdk.Effect{{Key: "k", Value: json.RawMessage("1")}}}, sdk.Result{Content: text, IsError: true}},
		"effects":        {sdk.Result{Effects: []sdk.Effect{{Key: "k", Value: json.RawMessage("1")}}}, sdk.Result{Effects: []sdk.Effect{{Key: "k", Value: json.RawMessage("1")}}}},
		"content":        {sdk.Image("image/png", []byte{1}), sdk.Result{Content: []sdk.Content{sdk.Image("image/png", []byte{1})}}},
		"contents":       {[]sdk.Content{sdk.Text("a"), sdk.File("n", "text/plain", []byte("b"))}, sdk.Result{Content: []sdk.Content{sdk.Text("a"), sdk.File("n", "text/plain", []byte("b"))}}},
		"struct":         {nested{Lat: 1}, sdk.Result{Content: jsonBlock(`{"lat":1,"lon":0}`)}},
		"no escaping":    {map[string]string{"a": "<&>"}, sdk.Result{Content: jsonBlock(`{"a":"<&>"}`)}},
		"raw":            {json.RawMessage(`{"a":1}`), sdk.Result{Content: jsonBlock(`{"a":1}`)}},
		"number":         {7, sdk.Result{Content: jsonBlock(`7`)}},
		"named string":   {named("a"), sdk.Result{Content: jsonBlock(`"a"`)}},
		"invalid UTF-8":  {"a\xff", sdk.Result{Content: []sdk.Content{sdk.Text("a\uFFFD")}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := sdktest.New(t, pluginOf(func(context.Context, struct{}) (any, error) { return tt.value, nil }))
			got := h.Call("x", nil)
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			if len(tt.want.Content) == 0 {
				tt.want.Content = got.Content // empty or nil
			}
			if diff := cmp.Diff(tt.want, got.Result); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBlocksThatAreNotJSONAreTheToolsFault(t *testing.T) {
	for name, value := range map[string]any{
		"block":    tool.JSON(json.RawMessage(`{`)),
		"effect":   sdk.Result{Effects: []sdk.Effect{{Key: "k", Value: json.RawMessage("{")}}},
		"metadata": sdk.Result{Metadata: map[string]json.RawMessage{"k": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			h := sdktest.New(t, pluginOf(func(context.Context, struct{}) (any, error) { return value, nil }))
			if got := h.Call("x", nil); tool.KindOf(errOf(got)) != tool.KindInternal {
				t.Errorf("got %v and result %q, want an internal error", got.Err, got.Text())
			}
		})
	}
}

// errOf returns the error of a call as an error, which is nil if there is none.
func errOf(c *sdktest.Call) error {
	if c.Err == nil {
		return nil
	}
	return c.Err
}

func TestErrors(t *testing.T) {
	tests := map[string]struct {
		err  error
		kind tool.Kind // empty: a tool error
		text string
	}{
		"plain":                {errors.New("no such city"), "", "no such city"},
		"says nothing":         {errors.New(""), "", "*errors.errorString"},
		"unavailable":          {sdk.Unavailable("the service is down: %w", errors.New("refused")), tool.KindUnavailable, "the service is down: refused"},
		"rate limited":         {sdk.RateLimited(time.Minute, "enough"), tool.KindRateLimited, "enough"},
		"denied":               {sdk.Denied("the key is wrong"), tool.KindDenied, "the key is wrong"},
		"internal":             {sdk.Internal("a bug"), tool.KindInternal, "a bug"},
		"wrapped":              {fmt.Errorf("asking: %w", sdk.Unavailable("down")), tool.KindUnavailable, "down"},
		"nil *Error":           {(*sdk.Error)(nil), tool.KindInternal, "nil"},
		"a timeout of its own": {context.DeadlineExceeded, "", "deadline exceeded"},
		"a cancel of its own":  {context.Canceled, "", "canceled"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := sdktest.New(t, pluginOf(func(context.Context, struct{}) (string, error) { return "ignored", tt.err }))
			got := h.Call("x", nil)
			text := got.Text()
			if got.Err != nil {
				text = got.Err.Error()
			}
			if tool.KindOf(errOf(got)) != tt.kind || got.IsError != (tt.kind == "") || !strings.Contains(text, tt.text) {
				t.Errorf("kind %q, is_error %v, text %q; want %q and %q", tool.KindOf(errOf(got)), got.IsError, text, tt.kind, tt.text)
			}
		})
	}
	h := sdktest.New(t, pluginOf(func(context.Context, struct{}) (string, error) { return "", sdk.RateLimited(time.Minute, "x") }))
	if got := h.Call("x", nil); got.Err == nil || got.Err.RetryAfter != time.Minute {
		t.Errorf("got %+v, want to retry after a minute", got.Err)
	}
	if got := h.Call("none", nil); tool.KindOf(errOf(got)) != tool.KindNotFound {
		t.Errorf("an unknown tool: %v", got.Err)
	}
}

func TestContextErrorsAreCancelledOrTimeout(t *testing.T) {
	h := sdktest.New(t, pluginOf(func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", fmt.Errorf("asking: %w", ctx.Err())
	}))
	for kind, ctx := range map[tool.Kind]func() (context.Context, context.CancelFunc){
		tool.KindTimeout: func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), time.Millisecond)
		},
		tool.KindCancelled: func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return ctx, cancel
		},
		tool.KindUnavailable: func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(tool.Errorf(tool.KindUnavailable, "the host is gone"))
			return ctx, func() {}
		},
	} {
		t.Run(string(kind), func(t *testing.T) {
			ctx, cancel := ctx()
			defer cancel()
			s := h.Stream("x", sdktest.WithContext(ctx))
			s.Complete(nil)
			if got := s.Wait(); tool.KindOf(errOf(got)) != kind {
				t.Errorf("got %v and result %q, want kind %s", got.Err, got.Text(), kind)
			}
		})
	}
}

func TestPanicEndsTheCallAlone(t *testing.T) {
	h := sdktest.New(t, pluginOf(func(_ context.Context, in struct {
		Panic bool `json:"panic,omitempty"`
	}) (string, error) {
		if in.Panic {
			panic("out of cheese")
		}
		return "fine", nil
	}))
	got := h.Call("x", `{"panic":true}`)
	if tool.KindOf(errOf(got)) != tool.KindInternal || !strings.Contains(got.Err.Message, "out of cheese") {
		t.Errorf("got %v, want an internal error that names the panic", got.Err)
	}
	if len(got.Logs) != 1 || got.Logs[0].Level != tool.LogError || !strings.Contains(string(got.Logs[0].Attributes["stack"]), "call_test.go") {
		t.Errorf("logs %+v, want one with the stack", got.Logs)
	}
	if got := h.Call("x", nil); got.Text() != "fine" {
		t.Errorf("the next call: %q, %v", got.Text(), got.Err)
	}
}

func TestWhatTheContextKnows(t *testing.T) {
	type person struct{ Name string }
	spec := sdk.Spec{Name: "x", Description: "x", ContextKeys: []string{"who", "bad"}, RequiresAuth: []string{"key"}}
	h := sdktest.New(t, sdk.Plugin{Name: "p", Tools: []sdk.Tool{sdk.Func(spec, func(ctx context.Context, _ struct{}) (map[string]any, error) {
		who, found, err := sdk.Value[person](ctx, "who")
		_, badFound, badErr := sdk.Value[int](ctx, "bad")
		_, hiddenFound, hiddenErr := sdk.Value[int](ctx, "hidden")
		key, keyFound := sdk.Secret(ctx, "key")
		_, otherFound := sdk.Secret(ctx, "other")
		return map[string]any{
			"id": sdk.CallID(ctx), "attempt": sdk.Attempt(ctx), "session": sdk.Session(ctx), "workspace": sdk.Workspace(ctx),
			"who": who.Name, "found": found, "err": err == nil, "bad": badFound && badErr != nil, "hidden": hiddenFound || hiddenErr != nil,
			"key": key, "keyFound": keyFound, "other": otherFound,
		}, nil
	})}})
	got := h.Call("x", nil, sdktest.WithCallID("id-7"), sdktest.WithAttempt(2), sdktest.WithSession("s"), sdktest.WithWorkspace("/w"),
		sdktest.WithValue("who", person{"Ada"}), sdktest.WithValue("bad", "text"), sdktest.WithValue("hidden", 1),
		sdktest.WithSecret("key", "k"), sdktest.WithSecret("other", "o"))
	want := `{"attempt":2,"bad":true,"err":true,"found":true,"hidden":false,"id":"id-7","key":"k","keyFound":true,"other":false,"session":"s","who":"Ada","workspace":"/w"}`
	if got.Text() != want {
		t.Errorf("got  %s (%v)\nwant %s", got.Text(), got.Err, want)
	}
}

// A tool gets the context values that it declares, and every tool gets the properties of its call.
func TestWellKnownContext(t *testing.T) {
	spec := sdk.Spec{Name: "x", Description: "x", ContextKeys: []string{sdk.KeyRun, sdk.KeyTurn}}
	h := sdktest.New(t, sdk.Plugin{Name: "p", Tools: []sdk.Tool{sdk.Func(spec, func(ctx context.Context, _ struct{}) (string, error) {
		run, _, err := sdk.Value[string](ctx, sdk.KeyRun)
		if err != nil {
			return "", err
		}
		turn, _, err := sdk.Value[int](ctx, sdk.KeyTurn)
		_, user, _ := sdk.Value[string](ctx, sdk.KeyUser)
		deadline, bounded := ctx.Deadline()
		return fmt.Sprintln(run, turn, user, sdk.Traceparent(ctx), bounded && time.Until(deadline) <= time.Hour), err
	})}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	got := h.Call("x", nil, sdktest.WithContext(ctx), sdktest.WithValue(sdk.KeyRun, "run-7"), sdktest.WithValue(sdk.KeyTurn, 3),
		sdktest.WithValue(sdk.KeyUser, "Ada"), sdktest.WithTraceparent("00-4bf9-00f0-01"))
	if want := "run-7 3 false 00-4bf9-00f0-01 true\n"; got.Text() != want {
		t.Errorf("the tool saw %q (%v), not %q", got.Text(), got.Err, want)
	}
}

func TestOutsideOfACall(t *testing.T) {
	ctx := t.Context()
	_, found, err := sdk.Value[int](ctx, "k")
	_, secret := sdk.Secret(ctx, "k")
	if sdk.CallID(ctx) != "" || sdk.Attempt(ctx) != 0 || sdk.Session(ctx) != "" || sdk.Workspace(ctx) != "" || sdk.Traceparent(ctx) != "" ||
		found || err != nil || secret || sdk.Logger(ctx) == nil {
		t.Error("a context without a call knows something")
	}
	sdk.ReportStatus(ctx, sdk.Status{Message: "nobody sees it"})
}

func TestLogger(t *testing.T) {
	h := sdktest.New(t, pluginOf(func(ctx context.Context, _ struct{}) (string, error) {
		log := sdk.Logger(ctx).With("city", "Oslo").WithGroup("http")
		log.Debug("asking", "status", 200, slog.Group("body", "bytes", 12, "html", "<b>"), "msg", "mine")
		sdk.Logger(ctx).Log(ctx, slog.LevelError+2, "bad\xff", "error", errors.New("boom"), "took", time.Second)
		sdk.Logger(ctx).Warn("plain")
		return "", nil
	}))
	got := h.Call("x", nil)
	want := []tool.LogRecord{
		{Level: tool.LogDebug, Message: "asking", Attributes: map[string]json.RawMessage{
			"city": json.RawMessage(`"Oslo"`),
			"http": json.RawMessage(`{"status":200,"body":{"bytes":12,"html":"<b>"},"msg":"mine"}`),
		}},
		{Level: tool.LogError, Message: "bad\uFFFD", Attributes: map[string]json.RawMessage{
			"error": json.RawMessage(`"boom"`), "took": json.RawMessage(`1000000000`),
		}},
		{Level: tool.LogWarn, Message: "plain"},
	}
	for i := range got.Logs {
		if got.Logs[i].Time.IsZero() {
			t.Errorf("record %d has no time", i)
		}
		got.Logs[i].Time = time.Time{}
	}
	if diff := cmp.Diff(want, got.Logs); diff != "" {
		t.Error(diff)
	}
}

// Errors for the model and for the caller do not contain the path of the workspace.
func TestPathsInErrorsAreRelative(t *testing.T) {
	dir := t.TempDir()
	h := sdktest.New(t, pluginOf(func(ctx context.Context, in struct {
		Infra bool `json:"infra,omitempty"`
	}) (string, error) {
		_, err := os.ReadFile(filepath.Join(sdk.Workspace(ctx), "sub", "none.txt"))
		if in.Infra {
			return "", sdk.Unavailable("reading: %w", err)
		}
		return "", err
	}))
	const want = "open sub/none.txt: no such file or directory"
	if got := h.Call("x", `{}`, sdktest.WithWorkspace(dir)); got.Err != nil || !got.IsError || got.Text() != want {
		t.Errorf("the model reads %q, %v; want %q", got.Text(), got.Err, want)
	}
	infra := h.Call("x", `{"infra":true}`, sdktest.WithWorkspace(dir)).Err
	if infra == nil || infra.Kind != tool.KindUnavailable || infra.Message != "reading: "+want {
		t.Errorf("the caller is told %+v; want %q", infra, want)
	}
}
