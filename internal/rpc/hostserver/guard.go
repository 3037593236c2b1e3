package hostserver

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/toolhost/toolhost/internal/budget"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// guard turns away whoever is refused, and turns a panic into an internal error of the call in which it happened.
type guard struct{ logger *slog.Logger }

// unsentBytes is what gRPC keeps of a stream whose caller does not read, before its sender waits: its quota, and a message.
const unsentBytes = 128 << 10

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
	if m, ok := resp.(proto.Message); ok && err == nil {
		err = owe(ctx, m)
	}
	return resp, toolpb.StatusError(err)
}

// owe makes room for an answer until it is sent, or says why there is none.
func owe(ctx context.Context, answer proto.Message) error {
	c := intakeOf(ctx)
	if c == nil {
		return nil
	}
	if err := c.answers.owe(proto.Size(answer)); err != nil {
		e := tool.Errorf(tool.KindRateLimited, "the answer cannot be kept until its caller reads it: %w; read the answers of other requests first", err)
		e.RetryAfter = time.Second
		return e
	}
	return nil
}

func (g guard) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer g.caught(info.FullMethod, func(e *tool.Error) { err = toolpb.StatusError(e) })
	if err := refused(stream.Context(), info.FullMethod); err != nil {
		return toolpb.StatusError(err)
	}
	var hold budget.Hold
	if c := intakeOf(stream.Context()); c != nil {
		hold.On(c.account)
	}
	if err := hold.TryReserve(unsentBytes); err != nil {
		return toolpb.StatusError(noRoom(err))
	}
	defer hold.Release()
	return toolpb.StatusError(handler(srv, stream))
}
