package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/toolhost/toolhost/sdk/internal/fit"
	"github.com/toolhost/toolhost/sdk/internal/spans"
	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// server is a plugin that has been checked and accepts calls, from a toolhost or from sdktest. It
// is safe for concurrent use.
type server struct {
	description tool.Description
	tools       map[string]servedTool

	mu    sync.Mutex
	calls int           // running calls
	idle  chan struct{} // closed when no call runs; nil: no goroutine waits for that
}

// servedTool is a tool or a filter.
type servedTool struct {
	name string
	// converts argument text into arguments
	read func(ctx context.Context, text []byte) (json.RawMessage, error)
	open func(ctx context.Context) (object, error)
	into decoder // decodes arguments into the input
	// nil: it cannot say what became of a call
	settle check
	seals  bool // settle seals

	dynamic *dynamic // nil: the tool is not dynamic
}

var _ transport.Handler = (*server)(nil)

// sdktest gets servers this way, because an exported function would have internal types.
var _ = transport.Provide(func(plugin any, compile fit.Compile) (transport.Handler, error) {
	p, ok := plugin.(Plugin)
	if !ok {
		return nil, fmt.Errorf("%T is no sdk.Plugin", plugin)
	}
	if compile == nil {
		compile = lightly
	}
	return newServer(p, compile, false)
})

// newServer checks a plugin with a validator. The error lists everything that is wrong with the
// plugin. With trusting unset, the server repairs and validates arguments itself. With trusting
// set, toolhost has done so before each call. The server then only repeats the check against the
// schema of a session, which may have changed since toolhost requested it.
func newServer(p Plugin, compile fit.Compile, trusting bool) (*server, error) {
	if err := p.check(compile, trusting); err != nil {
		return nil, err
	}
	s := &server{description: p.Describe(), tools: map[string]servedTool{}}
	for _, t := range p.Tools {
		served, err := serveTool(t, compile, trusting)
		if err != nil {
			return nil, fmt.Errorf("tool %q: its input schema: %w", t.spec.Name, err)
		}
		s.tools[t.spec.Name] = served
	}
	for _, f := range p.Filters {
		asked := func(_ context.Context, text []byte) (json.RawMessage, error) { return text, nil } // by a toolhost, not by a model
		s.tools[f.Name] = servedTool{name: f.Name, read: asked, open: f.open}
	}
	return s, nil
}

func serveTool(t Tool, compile fit.Compile, trusting bool) (servedTool, error) {
	served := servedTool{name: t.spec.Name, open: t.open, settle: t.settle, seals: t.spec.Seals, into: decodeStrictly}
	if trusting && t.vary == nil && t.derived {
		served.into = decodeChecked
	}
	if trusting && t.vary == nil {
		served.read = func(_ context.Context, text []byte) (json.RawMessage, error) { return whole(text), nil }
		return served, nil
	}
	args, err := newArgumentReader(&t.spec, compile)
	switch {
	case err != nil && !trusting:
		return served, err
	case err != nil:
		args = &argumentReader{} // toolhost has checked the schema and either serves the tool or omits it
	}
	served.read = func(_ context.Context, text []byte) (json.RawMessage, error) { return args.read(text) }
	if t.vary != nil {
		served.dynamic = newDynamic(t, args, compile)
		served.read = served.dynamic.read
	}
	return served, nil
}

// Describe returns the declaration of the plugin, with the requested tools as the session sees
// them.
func (s *server) Describe(ctx context.Context, req transport.DescribeRequest) (tool.Description, error) {
	d := s.description
	d.Tools = slices.Clone(d.Tools)
	if len(req.Tools) > 0 {
		d.Tools = slices.DeleteFunc(d.Tools, func(t tool.Spec) bool { return !slices.Contains(req.Tools, t.Name) })
	}
	s.describeFor(ctx, req, d.Tools)
	return d, nil
}

// Call runs a call to its end: until the tool has returned and its object is closed.
func (s *server) Call(ctx context.Context, info transport.Info, out transport.Call) (tool.Result, error) {
	s.begin()
	defer s.end()
	t, ok := s.tools[info.Tool]
	if !ok {
		return tool.Result{}, tool.Errorf(tool.KindNotFound, "the plugin %q has no tool %q", s.description.Name, info.Tool)
	}
	var recorder *spans.Recorder
	if info.SendSpans != nil {
		ctx, recorder = spans.Record(ctx, info.Traceparent, info.SendSpans)
	}
	c := newCall(ctx, info, out)
	result, err := t.run(c)
	c.finish(err == nil && !result.IsError)
	if recorder != nil {
		last, cancel := c.last()
		defer cancel()
		recorder.Close(last)
	}
	return result, err
}

func (s *server) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
}

func (s *server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls--; s.calls == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// wait blocks until no call is at work, or returns ctx's error.
func (s *server) wait(ctx context.Context) error {
	s.mu.Lock()
	if s.calls == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	idle := s.idle
	s.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run opens the call's object, brings it the arguments and closes it.
func (t *servedTool) run(c *call) (tool.Result, error) {
	o, err := guard(c, "opening tool", func() (object, error) { return t.open(c) })
	if err != nil {
		return outcome(c, err)
	}
	if o.close != nil {
		defer closeObject(c, o)
	}
	text, err := t.receive(c, o)
	if err != nil {
		return tool.Result{}, err
	}
	arguments, err := guard(c, "reading the arguments of", func() (json.RawMessage, error) { return t.read(c, text) })
	if err != nil {
		return outcome(c, err)
	}
	c.execute()
	value, err := guard(c, "tool", func() (any, error) { return o.call(c, arguments, t.into) })
	if err != nil {
		return outcome(c, err)
	}
	result, err := resultOf(value, func(message string) { Logger(c).Warn(message) })
	if err != nil {
		return tool.Result{}, Internal("tool %q: %w", t.name, err)
	}
	return result, nil
}

// receive returns the complete arguments. If the object has previews, receive passes the incomplete
// arguments to it first.
func (t *servedTool) receive(c *call, o object) ([]byte, error) {
	var previews *previewer
	defer func() {
		if previews != nil {
			previews.stop()
		}
	}()
	for {
		text, complete, err := c.out.NextArguments(c)
		switch {
		case err != nil && c.Err() != nil:
			return nil, ended(c)
		case err != nil:
			return nil, tool.AsError(err)
		case complete:
			return text, nil
		case o.partial == nil:
			continue
		case previews == nil:
			previews = startPreviews(c, func(ctx context.Context, soFar json.RawMessage, whole bool) bool {
				ctx = context.WithValue(ctx, wholeKey{}, whole)
				_, err := guard(c, "the preview of tool", func() (any, error) { o.partial(ctx, soFar); return nil, nil })
				return err == nil // what failed is in the log, and the call goes on without previews
			})
		}
		previews.add(text)
	}
}

func closeObject(c *call, o object) {
	_, err := guard(c, "closing tool", func() (any, error) { return nil, o.close() })
	if err != nil {
		if _, panicked := errors.AsType[*panicError](err); !panicked {
			Logger(c).Warn("closing the tool failed", slog.Any("error", err))
		}
	}
}

// panicError is a panic of the author's code.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// guard runs the author's code. A panic becomes an infrastructure error, and its stack goes into
// the log.
func guard[T any](c *call, what string, run func() (T, error)) (value T, err error) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		Logger(c).Error(what+" panicked", slog.Any("panic", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
		cause := &panicError{value: v}
		err = &tool.Error{Kind: tool.KindInternal, Message: fmt.Sprintf("%s %q: %s", what, c.info.Tool, cause), Err: cause}
	}()
	return run()
}
