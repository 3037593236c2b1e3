// Package sdktest runs a plugin's tools in a test, without a process and without a toolhost.
//
// It uses the code of a plugin process: it parses, validates and decodes arguments from text, and
// it encodes and decodes results. It also checks what a toolhost would refuse: the declaration of
// the plugin, and results that do not fit the output schema of their tool.
//
//	h := sdktest.New(t, plugin)
//	got := h.Call("forecast", `{"city":"Oslo"}`)
//	if got.Text() != "rain" { … }
package sdktest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// Host runs the tools of one plugin. It is safe for concurrent use.
type Host struct {
	t       testing.TB
	handler transport.Handler
	outputs map[string]*arguments.Schema
	own     map[string][]tool.Filter // that the plugin applies to its tools, by tool
	number  atomic.Int64
}

// New returns a host of the plugin. It fails the test at once if the plugin is invalid.
func New(t testing.TB, plugin sdk.Plugin) *Host {
	t.Helper()
	return newHost(t, check(t, plugin))
}

// NewOverWire is New with gRPC, in memory, between the test and the tools. It is slower, and the
// test does not see statuses that a toolhost would drop.
func NewOverWire(t testing.TB, plugin sdk.Plugin) *Host {
	t.Helper()
	return newHost(t, connect(t, check(t, plugin)))
}

func check(t testing.TB, plugin sdk.Plugin) transport.Handler {
	t.Helper()
	server, err := transport.NewHandler(plugin, compile)
	if err != nil {
		t.Fatalf("the plugin does not validate:\n%v", err)
	}
	return server
}

func newHost(t testing.TB, handler transport.Handler) *Host {
	t.Helper()
	h := &Host{t: t, handler: handler, outputs: map[string]*arguments.Schema{}, own: map[string][]tool.Filter{}}
	described := h.Describe()
	for _, spec := range described.Tools {
		h.outputs[spec.Name] = h.resolve(spec)
	}
	for _, f := range described.Filters {
		for _, name := range f.Tools {
			h.own[name] = append(h.own[name], f)
		}
	}
	return h
}

// resolve returns the output schema of a tool, or nil if it has none.
func (h *Host) resolve(spec sdk.Spec) *arguments.Schema {
	h.t.Helper()
	if len(spec.OutputSchema) == 0 {
		return nil
	}
	schema, err := arguments.Compile(spec.OutputSchema)
	if err != nil {
		h.t.Fatalf("tool %q: its output schema: %v", spec.Name, err)
	}
	return schema
}

// output returns the output schema of a call's result, or nil.
func (h *Host) output(info transport.Info) *arguments.Schema {
	h.t.Helper()
	if info.Session == "" && len(info.Values) == 0 {
		return h.outputs[info.Tool]
	}
	for _, spec := range h.describe(info).Tools {
		if spec.Name == info.Tool && spec.Dynamic {
			return h.resolve(spec)
		}
	}
	return h.outputs[info.Tool]
}

// Describe returns the declaration of the plugin, with the derived schemas. WithSession and
// WithValue select the variants of dynamic tools.
func (h *Host) Describe(options ...Option) sdk.Description {
	h.t.Helper()
	return h.describe(h.newOptions("", options).info)
}

func (h *Host) describe(info transport.Info) sdk.Description {
	h.t.Helper()
	d, err := h.handler.Describe(h.t.Context(), transport.DescribeRequest{Session: info.Session, Context: info.Values})
	if err != nil {
		h.t.Fatalf("describing the plugin: %v", err)
	}
	return d
}

// Call runs a tool and waits for its end. Arguments are JSON text as string, []byte or
// json.RawMessage, or any other value, which Call encodes as JSON.
//
// The call passes the filters that the plugin applies to the tool, as with a toolhost. Statuses and
// log records of the Call are those of the tool. If the arguments do not fit the schema, the
// filters after the call see the result that says so; a toolhost does not ask them about such a
// call.
func (h *Host) Call(name string, arguments any, options ...Option) *Call {
	h.t.Helper()
	if own := h.own[name]; len(own) > 0 {
		return h.callFiltered(name, own, arguments, options)
	}
	return h.callAlone(name, arguments, options)
}

func (h *Host) callAlone(name string, arguments any, options []Option) *Call {
	h.t.Helper()
	s := h.Stream(name, options...)
	s.Complete(arguments)
	return s.Wait()
}

// Option sets a property of a call.
type Option func(*callOptions)

type callOptions struct {
	info      transport.Info
	ctx       context.Context
	artifacts map[string]sdk.Content
	answer    func(tool.Question) tool.Answer // nil: the call cannot ask
}

// WithContext ends the call when ctx ends. Without it, a call ends with the test.
func WithContext(ctx context.Context) Option { return func(o *callOptions) { o.ctx = ctx } }

// WithCallID sets the id of the call. Without it, each call has a different id.
func WithCallID(id string) Option { return func(o *callOptions) { o.info.CallID = id } }

// WithAttempt sets the number of the attempt, from 1.
func WithAttempt(attempt int) Option {
	return func(o *callOptions) { o.info.Attempt = uint32(max(1, attempt)) }
}

// WithSession sets the session of the call.
func WithSession(session string) Option { return func(o *callOptions) { o.info.Session = session } }

// WithWorkspace sets the folder in which the tool may work, such as t.TempDir().
func WithWorkspace(dir string) Option { return func(o *callOptions) { o.info.Workspace = dir } }

// WithValue sets a value of the run's context, encoded as JSON. As with a toolhost, only a tool
// that declares the key gets it.
func WithValue(key string, value any) Option {
	return func(o *callOptions) {
		text, err := json.Marshal(value)
		if err != nil {
			text = json.RawMessage(fmt.Sprintf("%q", err.Error()))
		}
		o.info.Values[key] = text
	}
}

// WithTraceparent sets the W3C trace context of the call.
func WithTraceparent(traceparent string) Option {
	return func(o *callOptions) { o.info.Traceparent = traceparent }
}

// WithSecret sets a secret. As with a toolhost, only a tool that declares its name gets it.
func WithSecret(name, secret string) Option {
	return func(o *callOptions) { o.info.Secrets[name] = secret }
}

// WithArtifact adds an artifact with a handle, which the arguments of the call may contain. The
// content is a block of text or JSON, an image or a file.
func WithArtifact(handle string, content sdk.Content) Option {
	return func(o *callOptions) { o.artifacts[handle] = content }
}

// newOptions returns the result of options.
func (h *Host) newOptions(name string, options []Option) callOptions {
	o := callOptions{
		ctx: h.t.Context(), artifacts: map[string]sdk.Content{},
		info: transport.Info{Tool: name, Attempt: 1, Values: map[string]json.RawMessage{}, Secrets: map[string]string{}},
	}
	for _, option := range options {
		option(&o)
	}
	return o
}

// options returns the properties of a call to a tool, without the values and secrets that the tool
// does not declare.
func (h *Host) options(name string, options []Option) callOptions {
	o := h.newOptions(name, options)
	o.info.CallID = cmp.Or(o.info.CallID, fmt.Sprintf("call-%d", h.number.Add(1)))
	o.info.EffectKey = o.info.CallID // a toolhost's is another one
	for _, spec := range h.Describe().Tools {
		if spec.Name == name {
			keepOnly(o.info.Values, spec.ContextKeys)
			keepOnly(o.info.Secrets, spec.RequiresAuth)
		}
	}
	return o
}

func keepOnly[V any](values map[string]V, declared []string) {
	maps.DeleteFunc(values, func(key string, _ V) bool {
		for _, d := range declared {
			if d == key {
				return false
			}
		}
		return true
	})
}

// checkOutput reports a result that does not fit the output schema of its tool, as a toolhost
// validates it: the first block of JSON counts, or null if there is none. A result without content
// fits.
func (h *Host) checkOutput(info transport.Info, result *tool.Result) {
	h.t.Helper()
	schema := h.output(info)
	if schema == nil || result.IsError || len(result.Content) == 0 {
		return
	}
	text := json.RawMessage("null")
	if i := slices.IndexFunc(result.Content, func(c tool.Content) bool { return c.Kind == tool.ContentJSON }); i >= 0 {
		text = result.Content[i].JSON
	}
	value, err := arguments.ParseValue(text)
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		h.t.Errorf("tool %q: its result does not fit its output schema: %v\nresult: %s", info.Tool, err, result.Text())
	}
}
