package hostrpc

import (
	"context"
	"log/slog"
	"runtime/debug"

	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/internal/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// guard turns away whoever is refused, and turns a panic into an internal error of the call in which it happened.
type guard struct{ logger *slog.Logger }

// caught is deferred. It logs a panic, if there is one, and hands report the error to answer with.
func (g guard) caught(where string, report func(*tool.Error)) {
	v := recover()
	if v == nil {
		return
	}
	g.logger.Error("panic in a handler", "where", where, "panic", v, "stack", string(debug.Stack()))
	report(tool.Errorf(tool.KindInternal, "toolhost has a bug: a panic in %s: %v", where, v))
}

func (g guard) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	defer g.caught(info.FullMethod, func(e *tool.Error) { err = toolpb.StatusError(e) })
	if err := refused(ctx, info.FullMethod); err != nil {
		return nil, toolpb.StatusError(err)
	}
	resp, err = handler(ctx, req)
	return resp, toolpb.StatusError(err)
}

func (g guard) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer g.caught(info.FullMethod, func(e *tool.Error) { err = toolpb.StatusError(e) })
	if err := refused(stream.Context(), info.FullMethod); err != nil {
		return toolpb.StatusError(err)
	}
	return toolpb.StatusError(handler(srv, stream))
}
