package pluginwire_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

func TestArgumentsInPieces(t *testing.T) {
	seen := make(chan string)
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		for {
			text, complete, err := call.NextArguments(ctx)
			if err != nil {
				return tool.Result{}, err
			}
			if !complete {
				seen <- string(text)
				continue
			}
			again, _, _ := call.NextArguments(ctx)
			return tool.TextResult(string(text) + " " + string(again)), nil
		}
	}}, pluginwire.ConnConfig{})
	for _, tt := range []struct{ name, replacement, want string }{
		{"as sent", "", `{"a":"ü"}`},
		{"replaced", `{"a":1}`, `{"a":1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call := start(t, conn, pluginwire.Start{Arguments: []byte(`{"a"`)})
			if got := <-seen; got != `{"a"` {
				t.Errorf("the beginning is %q", got)
			}
			for _, piece := range []string{":\"\xc3", "\xbc", `"}`} {
				buffer := []byte(piece)
				if err := call.Append(t.Context(), buffer); err != nil {
					t.Fatal(err)
				}
				clear(buffer) // the caller may reuse it
				if got := <-seen; got != piece {
					t.Errorf("a piece is %q, want %q", got, piece)
				}
			}
			if err := call.Complete(t.Context(), []byte(tt.replacement)); err != nil {
				t.Fatal(err)
			}
			if err := call.Append(t.Context(), []byte("x")); err == nil {
				t.Error("Append after Complete")
			}
			if err := call.Complete(t.Context(), nil); err == nil {
				t.Error("Complete after Complete")
			}
			wantText(t, outcome(t, call), tt.want+" "+tt.want)
			if err := call.Append(t.Context(), []byte("x")); err != nil {
				t.Errorf("Append after the end: %v", err)
			}
		})
	}
}

func TestArgumentsOfACancelledCallNeverComplete(t *testing.T) {
	conn := open(t, plugin{call: func(ctx context.Context, call *pluginwire.ServerCall) (tool.Result, error) {
		// A handler that waits with another context is also woken.
		arguments, err := whole(context.WithoutCancel(ctx), call)
		return tool.TextResult(string(arguments)), err
	}}, pluginwire.ConnConfig{})
	call := start(t, conn, pluginwire.Start{Arguments: []byte(`{"path":"/etc/pas`)})
	call.Cancel("abandoned")
	wantKind(t, outcome(t, call), tool.KindCancelled)
}

func TestLargeArgumentsTravelInPieces(t *testing.T) {
	conn := open(t, echo, pluginwire.ConnConfig{})
	large := bytes.Repeat([]byte("0123456789abcdef"), 5<<20/16) // larger than a message may be
	call := start(t, conn, pluginwire.Start{Arguments: large, Complete: true})
	wantText(t, outcome(t, call), string(large))

	call = start(t, conn, pluginwire.Start{Arguments: large})
	if err := call.Append(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	if err := call.Complete(t.Context(), large); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("a replacement that no message can carry: %v", err)
	}
	if err := call.Complete(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	wantText(t, outcome(t, call), string(large)+string(large))
}

func TestArgumentsAreBounded(t *testing.T) {
	cc, _ := serve(t, func(s *grpc.Server) {
		pluginwire.Register(s, echo, pluginwire.ServerConfig{Logger: quiet.Logger, MaxArgumentBytes: 100 << 10})
	})
	conn := openOn(t, cc, pluginwire.ConnConfig{})
	out := outcome(t, start(t, conn, pluginwire.Start{Arguments: make([]byte, 200<<10), Complete: true}))
	wantKind(t, out, tool.KindInvalidArgument)
}

// A plugin that does not read cannot block a caller after the end of its context, nor Close.
func TestPluginThatTakesNothing(t *testing.T) {
	conn := openRaw(t, pluginwire.ConnConfig{}, func(stream rawStream) error {
		<-stream.Context().Done()
		return nil
	})
	large := make([]byte, 8<<20)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	started := make(chan error, 2)
	go func() {
		_, err := conn.Start(ctx, pluginwire.Start{Arguments: large, Complete: true})
		started <- err
	}()
	cancel(enough)
	if err := <-started; !errors.Is(err, enough) {
		t.Errorf("Start beyond its context: %v", err)
	}
	go func() {
		_, err := conn.Start(t.Context(), pluginwire.Start{Arguments: large, Complete: true})
		started <- err
	}()
	_ = conn.Close()
	wantLost(t, <-started)
}

// Frames of other calls are sent between those of a large one.
func TestLargeArgumentsMakeRoomForOthers(t *testing.T) {
	largest := 0
	conn := openRaw(t, pluginwire.ConnConfig{}, func(stream rawStream) error {
		for {
			frame, err := stream.Recv()
			if errors.Is(err, io.EOF) || err != nil {
				return nil
			}
			largest = max(largest, len(frame.GetStart().GetArguments()), len(frame.GetAppend().GetText()))
			if frame.GetComplete() != nil {
				if err := stream.Send(endOf(frame.GetCall(), strings.Repeat("k", largest>>10))); err != nil {
					return err
				}
			}
		}
	})
	out := outcome(t, start(t, conn, pluginwire.Start{Arguments: make([]byte, 1<<20), Complete: true}))
	wantText(t, out, strings.Repeat("k", 64))
}

type rawStream = grpc.BidiStreamingServer[pluginv1.ConnectRequest, pluginv1.ConnectResponse]
