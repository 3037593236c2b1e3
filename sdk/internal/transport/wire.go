package transport

import (
	"context"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// OverWire returns h as a handler of the plugin's side of the gRPC connection.
func OverWire(h Handler) pluginwire.Handler { return wireHandler{h} }

type wireHandler struct{ handler Handler }

// Describe implements pluginwire.Handler.
func (w wireHandler) Describe(ctx context.Context, req pluginwire.DescribeRequest) (tool.Description, error) {
	return w.handler.Describe(ctx, DescribeRequest{Tools: req.Tools, Session: req.Session, Context: req.Context})
}

// Call implements pluginwire.Handler.
func (w wireHandler) Call(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
	return w.handler.Call(ctx, infoOf(call), call)
}

// Settle implements pluginwire.Settler.
func (w wireHandler) Settle(ctx context.Context, call *pluginwire.ServerCall) (tool.Settlement, error) {
	return w.handler.Settle(ctx, infoOf(call), call)
}

func infoOf(call *pluginwire.ServerCall) Info {
	start := call.Start()
	info := Info{
		CallID:      start.CallID,
		Tool:        start.Tool,
		Attempt:     start.Attempt,
		EffectKey:   start.EffectKey,
		Session:     start.Session,
		Workspace:   start.Workspace,
		Values:      start.Values,
		Secrets:     start.Secrets,
		Traceparent: start.Traceparent,
	}
	if start.SpanBytes > 0 {
		info.SendSpans = call.SendSpans
	}
	return info
}
