package conformance

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"
)

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
