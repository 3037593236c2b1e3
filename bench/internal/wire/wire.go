// Package wire has the smallest gRPC service for the benchmark's work, its client, and a relay that
// forwards messages without decoding them. The relay gives the lowest possible cost of two gRPC
// hops.
package wire

import (
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/toolhost/toolhost/bench/internal/work"
)

const method = "/bench.Echo/Do"

type doer interface {
	do(ctx context.Context, dec func(any) error) (any, error)
}

// describe builds the service description with one unary method, in place of generated code.
func describe(d doer) (*grpc.ServiceDesc, any) {
	return &grpc.ServiceDesc{ServiceName: "bench.Echo", HandlerType: (*doer)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Do",
		Handler: func(srv any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			return srv.(doer).do(ctx, dec)
		},
	}}}, d
}

type worker struct{}

func (worker) do(_ context.Context, dec func(any) error) (any, error) {
	var in wrapperspb.BytesValue
	if err := dec(&in); err != nil {
		return nil, err
	}
	answer, err := work.Do(in.GetValue())
	if err != nil {
		return nil, err
	}
	return &wrapperspb.BytesValue{Value: []byte(answer)}, nil
}

// Register registers the service.
func Register(s grpc.ServiceRegistrar) { s.RegisterService(describe(worker{})) }

type relay struct{ next *grpc.ClientConn }

func (r relay) do(ctx context.Context, dec func(any) error) (any, error) {
	var in, out []byte
	if err := dec(&in); err != nil {
		return nil, err
	}
	if err := r.next.Invoke(ctx, method, &in, &out, grpc.ForceCodecV2(asIs{})); err != nil {
		return nil, err
	}
	return &out, nil
}

// asIs is the codec of the relay: a message is its bytes.
type asIs struct{}

func (asIs) Name() string { return "proto" }

func (asIs) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (asIs) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// Serve serves the work on a unix socket until ctx ends. If next is not empty, it forwards requests
// to the server at that socket.
func Serve(ctx context.Context, socket, next string) error {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	var server *grpc.Server
	if next == "" {
		server = grpc.NewServer()
		Register(server)
	} else {
		conn, err := Dial(next)
		if err != nil {
			return err
		}
		defer conn.Close()
		server = grpc.NewServer(grpc.ForceServerCodecV2(asIs{}))
		server.RegisterService(describe(relay{next: conn}))
	}
	stop := context.AfterFunc(ctx, server.Stop)
	defer stop()
	return server.Serve(listener)
}

// Dial returns a connection to the server at a unix socket.
func Dial(socket string) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("dialling: %w", err)
	}
	return conn, nil
}

// Do requests work and returns the length of the answer in bytes.
func Do(ctx context.Context, conn grpc.ClientConnInterface, arguments []byte) (int, error) {
	var out wrapperspb.BytesValue
	if err := conn.Invoke(ctx, method, &wrapperspb.BytesValue{Value: arguments}, &out); err != nil {
		return 0, err
	}
	return len(out.GetValue()), nil
}
