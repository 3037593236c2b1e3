package conformance

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxPiece bounds the payload of a frame, by the contract.
	maxPiece = 64 << 10
	// plenty is more credit than any call uses.
	plenty = 64 << 20
)

var errStreamEnded = errors.New("the stream of calls has ended")

// stream is one Connect stream. Its methods are safe for concurrent use.
type stream struct {
	frames grpc.BidiStreamingClient[pluginv1.ConnectRequest, pluginv1.ConnectResponse]
	cancel context.CancelFunc
	done   chan struct{} // closed at the end of the stream

	sending sync.Mutex

	mu     sync.Mutex
	calls  map[uint32]*call
	last   uint32
	err    error
	strays int // the number of frames for unknown calls
}

// open opens the trial's stream. Its goroutine ends with the connection, or with cut; trial.end
// waits for it.
func (t *trial) open(ctx context.Context) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	frames, err := t.client.Connect(ctx)
	if err != nil {
		cancel()
		return err
	}
	s := &stream{frames: frames, cancel: cancel, done: make(chan struct{}), calls: map[uint32]*call{}}
	t.stream = s
	go s.read() // ends with the stream, which cut ends
	return nil
}

// cut ends the stream as toolhost does.
func (s *stream) cut() { s.cancel() }

func (s *stream) read() {
	defer close(s.done)
	defer s.cancel()
	for {
		frame, err := s.frames.Recv()
		if err != nil {
			s.lose(err)
			return
		}
		s.mu.Lock()
		c := s.calls[frame.GetCall()]
		s.mu.Unlock()
		switch {
		case c == nil:
			s.mu.Lock()
			s.strays++
			s.mu.Unlock()
		case frame.GetReadArtifact() != nil:
			c.take(frame)
			none := toolpb.FromError(tool.Errorf(tool.KindNotFound, "there is no such artifact"))
			_ = s.send(frame.GetCall(), &pluginv1.ConnectRequest_Artifact{Artifact: &pluginv1.ArtifactPiece{Error: none}})
		default:
			if more := c.take(frame); more > 0 {
				_ = s.grant(c, more)
			}
		}
	}
}

// lose ends the stream and all of its calls.
func (s *stream) lose(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.err = fmt.Errorf("%w: %s", errStreamEnded, words(err))
}

// problem returns why the stream has ended, or nil if it has not.
func (s *stream) problem() error {
	select {
	case <-s.done:
	default:
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// begin starts a call.
func (s *stream) begin(start *pluginv1.StartCall) (*call, error) {
	s.mu.Lock()
	s.last++
	c := newCall(s, s.last, start)
	s.calls[c.number] = c
	s.mu.Unlock()
	frame := &pluginv1.ConnectRequest_Start{Start: start}
	return c, s.sendFrame(&pluginv1.ConnectRequest{Call: c.number, Frame: frame})
}

// all returns the calls that were started.
func (s *stream) all() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var calls []*call
	for number := uint32(1); number <= s.last; number++ {
		if c := s.calls[number]; c != nil {
			calls = append(calls, c)
		}
	}
	return calls
}

// send sends a frame of a call.
func (s *stream) send(number uint32, frame any) error {
	request := &pluginv1.ConnectRequest{Call: number}
	switch f := frame.(type) {
	case *pluginv1.ConnectRequest_Append:
		request.Frame = f
	case *pluginv1.ConnectRequest_Complete:
		request.Frame = f
	case *pluginv1.ConnectRequest_Cancel:
		request.Frame = f
	case *pluginv1.ConnectRequest_Credit:
		request.Frame = f
	case *pluginv1.ConnectRequest_Artifact:
		request.Frame = f
	}
	return s.sendFrame(request)
}

func (s *stream) sendFrame(frame *pluginv1.ConnectRequest) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.frames.Send(frame)
}

// sendUnknown sends a frame with a field that a later version of the contract could have.
func (s *stream) sendUnknown(number uint32) error {
	frame := &pluginv1.ConnectRequest{Call: number}
	const field, length = 99<<3 | 2, 5
	frame.ProtoReflect().SetUnknown(append(binary.AppendUvarint(binary.AppendUvarint(nil, field), length), "newer"...))
	return s.sendFrame(frame)
}

// grant grants a call more credit. The credit counts before it is sent.
func (s *stream) grant(c *call, bytes int) error {
	c.mu.Lock()
	c.credit += bytes
	c.mu.Unlock()
	return s.send(c.number, &pluginv1.ConnectRequest_Credit{Credit: &pluginv1.GrantCredit{Bytes: uint32(bytes)}})
}

// sizeOf returns the credit that a frame costs.
func sizeOf(frame *pluginv1.ConnectResponse) int { return proto.Size(frame) }

// words returns the message of an error without gRPC's prefix.
func words(err error) string { return toolpb.FromStatusError(err).Message }
