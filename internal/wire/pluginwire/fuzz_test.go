package pluginwire_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
)

// script is a connection whose peer sends given bytes after the host has started its calls, and
// then closes.
type script struct {
	frames  []*pluginv1.ConnectResponse
	started chan struct{}
}

func (s *script) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	return errors.New("not here")
}

func (s *script) NewStream(ctx context.Context, _ *grpc.StreamDesc, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return &scriptStream{script: s, ctx: ctx}, nil
}

type scriptStream struct {
	*script
	ctx context.Context
}

func (s *scriptStream) Header() (metadata.MD, error) { return nil, nil }
func (s *scriptStream) Trailer() metadata.MD         { return nil }
func (s *scriptStream) CloseSend() error             { return nil }
func (s *scriptStream) Context() context.Context     { return s.ctx }
func (s *scriptStream) SendMsg(any) error            { return nil }

func (s *scriptStream) RecvMsg(m any) error {
	select {
	case <-s.started:
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
	if len(s.frames) == 0 {
		return io.EOF
	}
	proto.Merge(m.(proto.Message), s.frames[0])
	s.frames = s.frames[1:]
	return nil
}

// FuzzPluginFrames lets a plugin send arbitrary bytes. The host's end must not panic or block, and
// each call gets at most one outcome, with no event after it.
func FuzzPluginFrames(f *testing.F) {
	text := &toolv1.Result{Content: []*toolv1.Content{textBlock("a"), {}}, Effects: []*toolv1.Effect{{Value: []byte("1")}}}
	for _, frames := range [][]*pluginv1.ConnectResponse{
		{chunkFrame(1, 0, []byte("x")), statusFrame(2, &toolv1.Status{State: 2, Parameters: []byte("{}")}), endFrame(1, text), endOf(2, "b")},
		{{Call: 1, Frame: &pluginv1.ConnectResponse_Log{Log: &toolv1.LogRecord{Attributes: map[string][]byte{"a": nil}}}}, endOf(1, "")},
		{statusFrame(1, &toolv1.Status{Message: "0123456789", Progress: &toolv1.Progress{Done: 1}}), chunkFrame(1, 1<<20, nil), {Call: 2}},
	} {
		buffer := new(bytes.Buffer)
		for _, frame := range frames {
			if _, err := protodelim.MarshalTo(buffer, frame); err != nil {
				f.Fatal(err)
			}
		}
		f.Add(buffer.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &script{started: make(chan struct{})}
		for r := bytes.NewReader(data); ; {
			frame := &pluginv1.ConnectResponse{}
			if protodelim.UnmarshalFrom(r, frame) != nil {
				break
			}
			s.frames = append(s.frames, frame)
		}
		conn := openOn(t, s, pluginwire.ConnConfig{CallWindow: 64, MaxResultBytes: 128})
		defer conn.Close()
		first, second := start(t, conn, pluginwire.Start{Complete: true}), start(t, conn, pluginwire.Start{})
		close(s.started)
		for _, call := range []*pluginwire.Call{first, second} {
			for ended := false; ; {
				event, err := call.Next(t.Context())
				if err != nil {
					if ended != errors.Is(err, io.EOF) {
						t.Errorf("ended %v, then %v", ended, err)
					}
					break
				}
				if ended {
					t.Errorf("after the end: %+v", event)
				}
				ended = event.Ended != nil
			}
		}
	})
}
