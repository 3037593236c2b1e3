package grpcserver

import (
	"context"
	"net"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Admit decides about a unary RPC whose request the server has not read yet. It returns the context
// of the RPC, and the key of the principal that made it. The caller gets the error, a status.
type Admit func(ctx context.Context, method string) (admitted context.Context, principal string, err error)

// The problem: gRPC reads and decodes the request of a unary RPC before it calls an interceptor, so
// that a stranger could make a server store and decode as many of the largest requests as it has
// streams. unread therefore stands in front of each unary handler. It asks Admit first, while the
// request is in the flow-control window of its stream at most. It then lets each principal have
// only receivedAtOnce requests that are read and decoded at the same time. Further ones wait for
// these. Streams need no such step: their interceptors run before they receive a message.

const (
	// receivedAtOnce is how many requests of one principal the server reads and decodes at the same
	// time. A request takes about three times its size meanwhile: as it arrived, in one piece, and
	// decoded.
	receivedAtOnce = 8
	// largeRequest is the size from which Requests.UntilAnswered concerns a request.
	largeRequest = 1 << 20
)

// Requests says how a server treats the requests of unary RPCs.
type Requests struct {
	Admit Admit // is asked about each RPC before the server reads its request
	// UntilAnswered lets large requests count until their handlers return. It is for handlers that
	// keep the request and are short. Without it, a request counts until it is decoded.
	UntilAnswered bool
}

// unread registers services with handlers that admit an RPC before they read its request.
type unread struct {
	grpc.ServiceRegistrar
	Requests
	receiving *receiving
}

// RegisterService implements grpc.ServiceRegistrar.
func (u unread) RegisterService(desc *grpc.ServiceDesc, impl any) {
	guarded := *desc
	guarded.Methods = slices.Clone(desc.Methods)
	for i := range guarded.Methods {
		m := &guarded.Methods[i]
		m.Handler = u.handler("/"+desc.ServiceName+"/"+m.MethodName, m.Handler)
	}
	u.ServiceRegistrar.RegisterService(&guarded, impl)
}

func (u unread) handler(method string, next grpc.MethodHandler) grpc.MethodHandler {
	return func(srv any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		ctx, principal, err := u.Admit(ctx, method)
		if err != nil {
			return nil, err
		}
		leave := func() {}
		defer func() { leave() }()
		return next(srv, ctx, func(request any) error {
			if leave, err = u.receiving.enter(ctx, principal); err != nil {
				leave = func() {}
				return err
			}
			if err := decode(request); err != nil {
				return err
			}
			if m, ok := request.(proto.Message); !u.UntilAnswered || ok && proto.Size(m) < largeRequest {
				leave()
				leave = func() {}
			}
			return nil
		}, interceptor)
	}
}

// receiving counts the requests that are being read, by the principals that sent them. The zero
// value has none. It is safe for concurrent use.
type receiving struct {
	mu    sync.Mutex
	rooms map[string]*room
}

// room has the requests of one principal.
type room struct {
	entered chan struct{}
	users   int // also those that wait; the mutex of receiving guards it
}

// enter waits until a principal may send another request, and returns what ends it. It fails when
// ctx ends.
func (r *receiving) enter(ctx context.Context, principal string) (leave func(), err error) {
	r.mu.Lock()
	of := r.rooms[principal]
	if of == nil {
		if r.rooms == nil {
			r.rooms = map[string]*room{}
		}
		of = &room{entered: make(chan struct{}, receivedAtOnce)}
		r.rooms[principal] = of
	}
	of.users++
	r.mu.Unlock()
	gone := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if of.users--; of.users == 0 {
			delete(r.rooms, principal)
		}
	}
	select {
	case of.entered <- struct{}{}:
		return func() { <-of.entered; gone() }, nil
	case <-ctx.Done():
		gone()
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

// anyone admits the RPCs of the services that everyone may use, such as health checking. Its
// callers are told apart by their machines, and this process from the users of a socket.
func anyone(ctx context.Context, _ string) (context.Context, string, error) {
	host := ""
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		host = p.Addr.Network()
		if name, _, err := net.SplitHostPort(p.Addr.String()); err == nil {
			host = name
		}
	}
	return ctx, host, nil
}
