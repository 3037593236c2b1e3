package conformance

import (
	"context"
	"log/slog"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"
)

// output counts what a plugin prints on standard output after its handshake. It is safe for
// concurrent use.
type output struct {
	mu    sync.Mutex
	lines int
	first string
}

// handler returns the log handler for the plugin's process.
func (o *output) handler() slog.Handler { return outputHandler{to: o} }

func (o *output) seen() (lines int, first string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines, o.first
}

func (o *output) note(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lines++; o.first == "" {
		o.first = text
	}
}

// outputHandler recognizes lines of standard output by an attribute that
// server/internal/toolhost/process sets.
type outputHandler struct{ to *output }

// Enabled implements slog.Handler.
func (h outputHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h outputHandler) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "stream" || a.Value.String() != "stdout" {
			return true
		}
		h.to.note(r.Message)
		return false
	})
	return nil
}

// WithAttrs implements slog.Handler.
func (h outputHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup implements slog.Handler.
func (h outputHandler) WithGroup(string) slog.Handler { return h }

const stdioMethod = "/plugin.GRPCStdio/StreamStdio"

// drainStdio reads the output that the server of go-plugin sends over the connection. Without a
// reader, such a plugin would block on a full pipe. Other plugins need not serve it. drainStdio
// returns when the connection ends.
func (t *trial) drainStdio() {
	stream, err := t.cc.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, stdioMethod)
	if err != nil || stream.SendMsg(&emptypb.Empty{}) != nil || stream.CloseSend() != nil {
		return
	}
	for {
		var message emptypb.Empty // go-plugin does not export its message type
		if stream.RecvMsg(&message) != nil {
			return
		}
		if text, ok := stdoutOf(message.ProtoReflect().GetUnknown()); ok {
			t.x.output.note(string(text))
		}
	}
}

// stdoutOf returns the standard output in a message that go-plugin calls StdioData.
func stdoutOf(message []byte) (text []byte, ok bool) {
	const channelField, dataField, stdout = 1, 2, 1
	channel := uint64(0)
	for len(message) > 0 {
		field, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, false
		}
		message = message[n:]
		switch {
		case field == channelField && kind == protowire.VarintType:
			channel, n = protowire.ConsumeVarint(message)
		case field == dataField && kind == protowire.BytesType:
			text, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(field, kind, message)
		}
		if n < 0 {
			return nil, false
		}
		message = message[n:]
	}
	return text, channel == stdout
}
