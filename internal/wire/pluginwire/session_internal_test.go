package pluginwire

import (
	"context"
	"io"
	"testing"

	"google.golang.org/grpc"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
)

// scriptedStream returns given frames and then the end of the stream.
type scriptedStream struct {
	grpc.BidiStreamingServer[pluginv1.ConnectRequest, pluginv1.ConnectResponse]
	t     *testing.T
	says  []*pluginv1.ConnectRequest
	count int
}

func (s *scriptedStream) Context() context.Context { return s.t.Context() }

func (s *scriptedStream) Send(*pluginv1.ConnectResponse) error { return nil }

func (s *scriptedStream) RecvMsg(m any) error {
	frame := m.(*pluginv1.ConnectRequest)
	if frame.GetFrame() != nil || len(frame.GetBatch()) > 0 {
		s.t.Errorf("while it waits for frame %d, it keeps the one before: %v", s.count, frame)
	}
	if s.count == len(s.says) {
		return io.EOF
	}
	next := s.says[s.count]
	frame.Call, frame.Frame, frame.Batch = next.GetCall(), next.GetFrame(), next.GetBatch()
	s.count++
	return nil
}

// A frame may contain megabytes of arguments, and no frame may follow for hours. So an idle stream
// must not keep the last frame.
func TestAStreamThatWaitsKeepsNoFrame(t *testing.T) {
	credit := func() *pluginv1.ConnectRequest {
		return &pluginv1.ConnectRequest{Call: 1, Frame: &pluginv1.ConnectRequest_Credit{Credit: &pluginv1.GrantCredit{Bytes: 1}}}
	}
	together := credit()
	together.Batch = []*pluginv1.ConnectRequest{credit()}
	stream := &scriptedStream{t: t, says: []*pluginv1.ConnectRequest{credit(), together, credit()}}
	session := newStreamSession(&server{}, stream)
	defer session.close()
	if err := session.read(stream); err != nil || stream.count != len(stream.says) {
		t.Errorf("it read %d frames: %v", stream.count, err)
	}
}
