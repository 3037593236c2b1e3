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

// maxRehearsed is how many tools are rehearsed: what they have in common is most of it.
const maxRehearsed = 8

// rehearse takes a call of each tool through all of this process that a call goes through, but for the connection and the
// author's code. The first of anything is slow in a new process: types are looked at, memory is touched, stacks grow. So that
// happens while toolhost and the plugin still greet each other, and not while somebody waits for the first result. It returns
// when it is done, or when ctx ends.
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
			_ = s.Handler(service.impl, stream) // nobody hears what it says
		}
	}
}

// rehearsal answers calls of a server's tools without asking them.
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

// rehearseDecoding returns what lets a decoder look at a type; nil if the type decodes itself, which is the author's code.
func rehearseDecoding[In any](into decoder) func() {
	if t := reflect.TypeFor[*In](); t.Implements(reflect.TypeFor[json.Unmarshaler]()) || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	return func() { _ = into(json.RawMessage("{}"), new(In)) } // what it finds missing is nobody's
}

// stage is a grpc.ServiceRegistrar that keeps what is registered.
type stage struct {
	desc *grpc.ServiceDesc
	impl any
}

// RegisterService implements grpc.ServiceRegistrar.
func (s *stage) RegisterService(desc *grpc.ServiceDesc, impl any) { s.desc, s.impl = desc, impl }

// stageStream is a grpc.ServerStream from which calls come one after the other, each when the one before has ended.
type stageStream struct {
	ctx   context.Context
	codec encoding.CodecV2
	names []string // of the tools that are called; for the stream's reader
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
		s.ended <- struct{}{} // has room for all
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
