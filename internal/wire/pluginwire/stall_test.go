package pluginwire_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
)

// talker is a connection whose peer sends a frame on demand and never reads.
type talker struct {
	script
	say chan *pluginv1.ConnectResponse
}

func (p *talker) NewStream(ctx context.Context, _ *grpc.StreamDesc, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return &talkerStream{scriptStream: scriptStream{script: &p.script, ctx: ctx}, say: p.say}, nil
}

type talkerStream struct {
	scriptStream
	say chan *pluginv1.ConnectResponse
}

func (s *talkerStream) SendMsg(any) error {
	<-s.ctx.Done()
	return s.ctx.Err()
}

func (s *talkerStream) RecvMsg(m any) error {
	select {
	case frame := <-s.say:
		proto.Merge(m.(proto.Message), frame)
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// Unread grants of credit do not collect without limit.
func TestPluginThatTalksAndNeverListens(t *testing.T) {
	plugin := &talker{say: make(chan *pluginv1.ConnectResponse)}
	conn := openOn(t, plugin, pluginwire.ConnConfig{CallWindow: 1}) // each frame causes a frame of credit
	call := start(t, conn, pluginwire.Start{Complete: true})
	frame := statusFrame(1, &toolv1.Status{Message: "…"})
	for sent := 0; ; sent++ {
		if sent > 1<<20 {
			t.Fatal("a million frames of credit wait to be sent")
		}
		select {
		case plugin.say <- frame:
		case <-conn.Done():
		}
		if _, err := call.Next(t.Context()); err != nil {
			wantLost(t, err)
			break
		}
	}
	wantLost(t, conn.Err())
}

// The connection is lost while arguments are being sent.
func TestArgumentsOfALostConnection(t *testing.T) {
	plugin := &talker{say: make(chan *pluginv1.ConnectResponse)}
	conn := openOn(t, plugin, pluginwire.ConnConfig{})
	// gRPC accepts messages until its window of 1 MiB is full, so the stream may have room again
	// for a moment. A call that was completed then is not useful for the test.
	calls := make([]*pluginwire.Call, 200)
	for i := range calls {
		calls[i] = start(t, conn, pluginwire.Start{})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	var call *pluginwire.Call
	var err error
	for err == nil {
		if len(calls) == 0 {
			t.Fatal("there is always room")
		}
		call, calls = calls[0], calls[1:]
		for err == nil { // until the queue is full
			err = call.Append(ctx, make([]byte, 64<<10))
		}
		if !errors.Is(err, enough) {
			t.Errorf("Append without room: %v", err)
		}
		err = call.Complete(ctx, nil)
	}
	if !errors.Is(err, enough) {
		t.Errorf("Complete without room: %v", err)
	}
	_ = conn.Close()
	wantLost(t, call.Append(t.Context(), []byte("x")))
	wantLost(t, call.Complete(t.Context(), nil)) // still open, so it was not completed before
}
