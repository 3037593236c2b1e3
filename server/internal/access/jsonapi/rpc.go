package jsonapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// betweenChecks is how often a stream asks the gate whether its caller may still have it.
const betweenChecks = 15 * time.Second

// errStops is why streams end when the server does.
var errStops = connect.NewError(connect.CodeUnavailable, errors.New("the server stops"))

// codec is strict JSON: it refuses fields that the contract does not have.
type codec struct{}

// Name implements connect.Codec.
func (codec) Name() string { return "json" }

// Marshal implements connect.Codec.
func (codec) Marshal(m any) ([]byte, error) {
	of, ok := m.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", m)
	}
	return protojson.Marshal(of)
}

// Unmarshal implements connect.Codec.
func (codec) Unmarshal(data []byte, m any) error {
	of, ok := m.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is no message", m)
	}
	return protojson.Unmarshal(data, of)
}

// rpc returns the handler of an RPC.
func (s *Server) rpc(path string, m protoreflect.MethodDescriptor) http.Handler {
	options := []connect.HandlerOption{
		connect.WithCodec(codec{}), connect.WithCompression("gzip", nil, nil), connect.WithReadMaxBytes(s.config.MaxBytes), connect.WithSchema(m),
		connect.WithRequestInitializer(func(_ connect.Spec, msg any) error {
			*msg.(*dynamicpb.Message) = *dynamicpb.NewMessage(m.Input())
			return nil
		}),
	}
	var handler http.Handler
	if m.IsStreamingServer() {
		handler = connect.NewServerStreamHandler(path, func(ctx context.Context, r *connect.Request[dynamicpb.Message], to *connect.ServerStream[dynamicpb.Message]) error {
			return s.stream(ctx, path, m, r, to)
		}, options...)
	} else {
		handler = connect.NewUnaryHandler(path, func(ctx context.Context, r *connect.Request[dynamicpb.Message]) (*connect.Response[dynamicpb.Message], error) {
			return s.invoke(ctx, path, m, r)
		}, options...)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := context.WithValue(r.Context(), controlKey{}, http.NewResponseController(w))
		handler.ServeHTTP(w, r.WithContext(ctx))
	})
}

type controlKey struct{}

// outgoing returns the context of an RPC and the connection for it. Of the headers of the request,
// the RPC has the credential and nothing else.
func outgoing(ctx context.Context, h http.Header) (context.Context, *grpc.ClientConn, error) {
	conn, _ := ctx.Value(connectionKey{}).(*connection)
	rpcs, err := conn.client()
	if err != nil {
		return nil, nil, errorOf(err)
	}
	return metadata.NewOutgoingContext(ctx, metadata.Pairs("authorization", h.Get("Authorization"))), rpcs, nil
}

// invoke makes a unary RPC.
func (s *Server) invoke(ctx context.Context, path string, m protoreflect.MethodDescriptor, r *connect.Request[dynamicpb.Message]) (*connect.Response[dynamicpb.Message], error) {
	ctx, rpcs, err := outgoing(ctx, r.Header())
	if err != nil {
		return nil, err
	}
	result := dynamicpb.NewMessage(m.Output())
	if err := rpcs.Invoke(ctx, path, r.Msg, result); err != nil {
		return nil, errorOf(err)
	}
	s.mayWrite(ctx)
	return connect.NewResponse(result), nil
}

// stream makes an RPC with a stream of answers, and ends it when the caller may not have it any
// more.
func (s *Server) stream(ctx context.Context, path string, m protoreflect.MethodDescriptor, r *connect.Request[dynamicpb.Message], to *connect.ServerStream[dynamicpb.Message]) error {
	var checking sync.WaitGroup
	defer checking.Wait()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ending, func() { cancel(errStops) })()
	ctx, rpcs, err := outgoing(ctx, r.Header())
	if err != nil {
		return err
	}
	answers, err := rpcs.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, path)
	if err != nil {
		return errorOf(err)
	}
	if err := errors.Join(answers.SendMsg(r.Msg), answers.CloseSend()); err != nil && !errors.Is(err, io.EOF) {
		return errorOf(err)
	}
	checking.Go(func() { s.recheck(ctx, path, r.Header(), cancel) }) // ends with the stream
	for {
		answer := dynamicpb.NewMessage(m.Output())
		err := answers.RecvMsg(answer)
		switch cause := context.Cause(ctx); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && cause != nil && !errors.Is(cause, context.Canceled):
			return errorOf(cause)
		case err != nil:
			return errorOf(err)
		}
		s.mayWrite(ctx)
		if err := to.Send(answer); err != nil {
			return err
		}
	}
}

// recheck ends a stream when the gate does not admit its caller any more.
func (s *Server) recheck(ctx context.Context, path string, h http.Header, end context.CancelCauseFunc) {
	tick := time.NewTicker(betweenChecks)
	defer tick.Stop()
	conn, _ := ctx.Value(connectionKey{}).(*connection)
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if _, err := s.config.Gate.AdmitUnread(conn.incoming(ctx, h), path); err != nil && ctx.Err() == nil {
			end(err)
			if control, ok := ctx.Value(controlKey{}).(*http.ResponseController); ok {
				_ = control.SetWriteDeadline(time.Now().Add(time.Second)) // the client may not read
			}
			return
		}
	}
}

// mayWrite gives a client the time of a request to read an answer.
func (s *Server) mayWrite(ctx context.Context) {
	if control, ok := ctx.Value(controlKey{}).(*http.ResponseController); ok && s.config.Limits.RequestTimeout > 0 {
		_ = control.SetWriteDeadline(time.Now().Add(s.config.Limits.RequestTimeout))
	}
}

// errorOf returns the error of an RPC in the form of Connect, with its details.
func errorOf(err error) *connect.Error {
	if already, ok := errors.AsType[*connect.Error](err); ok {
		return already
	}
	s := status.Convert(err)
	failed := connect.NewError(connect.Code(s.Code()), errors.New(s.Message()))
	for _, any := range s.Proto().GetDetails() {
		if m, err := any.UnmarshalNew(); err == nil {
			if detail, err := connect.NewErrorDetail(m); err == nil {
				failed.AddDetail(detail)
			}
		}
	}
	return failed
}
