package sdk

import (
	"context"
	"encoding/json"
	"io"
	"reflect"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/metadata"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// maxRehearsed bounds the rehearsed tools: most of the path is the same for all tools.
const maxRehearsed = 8

// rehearse runs a call of each tool, up to maxRehearsed tools, inside this process. The calls use
// neither the connection to toolhost nor the author's code. In a new process, the first use of each
// function is slow, because the runtime inspects types, loads memory pages and grows stacks.
// rehearse makes this delay part of the handshake with toolhost, before a caller waits for a
// result. It returns when it is done, or when ctx ends.
func rehearse(ctx context.Context, server *server) {
	var service stage
	pluginwire.Register(&service, transport.OverWire(rehearsal{server}), pluginwire.ServerConfig{})
	codec := encoding.GetCodecV2(proto.Name)
	if codec == nil || service.impl == nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := &stageStream{ctx: ctx, codec: codec, ended: make(chan struct{}, maxRehearsed)}
	for _, t := range server.description.Tools[:min(maxRehearsed, len(server.description.Tools))] {
		stream.names = append(stream.names, t.Name)
	}
	for _, s := range service.desc.Streams {
		if s.StreamName == "Connect" {
			_ = s.Handler(service.impl, stream) // the rehearsal has no receiver
		}
	}
}

// rehearsal answers calls of a server's tools without calling the tools.
type rehearsal struct{ server *server }

// Describe implements transport.Handler.
func (r rehearsal) Describe(context.Context, transport.DescribeRequest) (tool.Description, error) {
	return r.server.description, nil
}

// Call implements transport.Handler.
func (r rehearsal) Call(ctx context.Context, info transport.Info, call transport.Call) (tool.Result, error) {
	if _, _, err := call.NextArguments(ctx); err != nil {
		return tool.Result{}, err
	}
	if t := r.server.tools[info.Tool]; t.decode != nil {
		t.decode()
	}
	return resultOf("")
}

// rehearseDecoding returns a function that makes a decoder inspect its type. It returns nil if the
// type decodes itself, because that is the author's code.
func rehearseDecoding[In any](into decoder) func() {
	if t := reflect.TypeFor[*In](); t.Implements(reflect.TypeFor[json.Unmarshaler]()) || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	// errors about missing fields do not matter here
	return func() { _ = into(json.RawMessage("{}"), new(In)) }
}

// stage is a grpc.ServiceRegistrar that stores the registered service.
type stage struct {
	desc *grpc.ServiceDesc
	impl any
}

// RegisterService implements grpc.ServiceRegistrar.
func (s *stage) RegisterService(desc *grpc.ServiceDesc, impl any) { s.desc, s.impl = desc, impl }

// stageStream is a grpc.ServerStream that yields the start of one call after the other, each after
// the end of the call before it.
type stageStream struct {
	ctx   context.Context
	codec encoding.CodecV2
	names []string // the tools to call; only the reader of the stream uses them
	begun uint32
	ended chan struct{}
}

// RecvMsg implements grpc.ServerStream.
func (s *stageStream) RecvMsg(m any) error {
	if s.begun > 0 {
		select {
		case <-s.ended:
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
	if int(s.begun) == len(s.names) {
		return io.EOF
	}
	s.begun++
	frame := &pluginv1.ConnectRequest{Call: s.begun, Frame: &pluginv1.ConnectRequest_Start{Start: &pluginv1.StartCall{
		CallId: "rehearsal", Tool: s.names[s.begun-1], Arguments: []byte("{}"), Complete: true, Attempt: 1, Credit: 1 << 10,
	}}}
	text, err := s.codec.Marshal(frame)
	if err != nil {
		return err
	}
	defer text.Free()
	return s.codec.Unmarshal(text, m)
}

// SendMsg implements grpc.ServerStream.
func (s *stageStream) SendMsg(m any) error {
	text, err := s.codec.Marshal(m)
	if err != nil {
		return err
	}
	text.Free()
	if frame, ok := m.(*pluginv1.ConnectResponse); ok && frame.GetEnd() != nil {
		s.ended <- struct{}{} // has room for every call
	}
	return nil
}

// Context implements grpc.ServerStream.
func (s *stageStream) Context() context.Context { return s.ctx }

// SetHeader implements grpc.ServerStream.
func (*stageStream) SetHeader(metadata.MD) error { return nil }

// SendHeader implements grpc.ServerStream.
func (*stageStream) SendHeader(metadata.MD) error { return nil }

// SetTrailer implements grpc.ServerStream.
func (*stageStream) SetTrailer(metadata.MD) {}
