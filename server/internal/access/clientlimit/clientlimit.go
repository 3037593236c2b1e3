// Package clientlimit applies the limits of package listen to the RPCs of a gRPC server: for
// connections over TCP, whose clients may be strangers. It also slows down those that try
// credentials.
//
// It does not decide who a caller is: package authn does, and clientlimit counts what comes of it.
package clientlimit

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/access/peercred"
	"github.com/toolhost/toolhost/server/internal/wire/grpcserver"
)

const (
	// keepaliveTime is how long a connection may be silent before the server asks whether the client
	// is still there, and keepaliveTimeout how long it waits for the answer.
	keepaliveTime    = time.Minute
	keepaliveTimeout = 20 * time.Second
	// leastPing is the shortest time between two questions of a client. gRPC closes the connection
	// of a client that asks more often.
	leastPing = 10 * time.Second
)

// Options returns the options of a gRPC server for clients over TCP. longest is the longest time of
// an RPC: a connection that is too old is closed when its RPCs have ended, and at the latest after
// that time. logger gets RPCs with too much metadata.
func Options(l listen.Limits, longest time.Duration, logger *slog.Logger) []grpc.ServerOption {
	headers := grpcserver.HeaderBytes
	if l.HeaderBytes > 0 {
		headers = l.HeaderBytes
	}
	entry := entry{l.RequestTimeout, headers, logger}
	options := []grpc.ServerOption{
		grpc.ConnectionTimeout(l.HandshakeTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: l.IdleTimeout, MaxConnectionAge: l.MaxAge, MaxConnectionAgeGrace: longest,
			Time: keepaliveTime, Timeout: keepaliveTimeout,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: leastPing, PermitWithoutStream: true}),
		grpc.InTapHandle(entry.tap),
		grpc.ChainUnaryInterceptor(entry.unary),
		grpc.ChainStreamInterceptor(entry.stream),
	}
	if l.Streams > 0 {
		options = append(options, grpc.MaxConcurrentStreams(uint32(l.Streams)))
	}
	return append(options, grpcserver.ReadHeaders(headers))
}

// entry bounds the beginning of each RPC.
//
// gRPC reads the request of a unary RPC before any interceptor runs, and a client that sends it
// slowly could hold the RPC for any time. So entry sets a timer when the headers arrive, which
// cancels the RPC, and stops it when the interceptor runs. The context of an RPC that ends earlier
// stops the timer too, so that a client that begins and cancels RPCs does not leave timers behind.
type entry struct {
	timeout time.Duration
	headers int // bytes of the metadata
	logger  *slog.Logger
}

type timerKey struct{}

// tap runs in the goroutine that reads the connection, so it must not block.
func (e entry) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	if err := grpcserver.RefuseHeaders(ctx, info, e.headers, e.logger); err != nil {
		return ctx, err
	}
	guest := peercred.GuestOf(ctx)
	if guest == nil {
		return ctx, nil
	}
	if !guest.Start() {
		return ctx, status.Error(codes.ResourceExhausted, "there are too many requests; try again later")
	}
	if e.timeout <= 0 {
		return ctx, nil
	}
	limited, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(e.timeout, cancel)
	context.AfterFunc(ctx, func() { timer.Stop() })
	return context.WithValue(limited, timerKey{}, timer), nil
}

func arrived(ctx context.Context) {
	if timer, ok := ctx.Value(timerKey{}).(*time.Timer); ok {
		timer.Stop()
	}
}

func (entry) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	arrived(ctx)
	return handler(ctx, req)
}

func (entry) stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	arrived(stream.Context())
	return handler(srv, stream)
}
