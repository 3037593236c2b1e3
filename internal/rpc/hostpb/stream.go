package hostpb

import toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"

// LinkRequest sets the batch and the acks of a message; see flow.NewStream.
func LinkRequest(first *toolhostv1.ConnectRequest, batch []*toolhostv1.ConnectRequest, ackToken, ack uint64) {
	first.Batch, first.AckToken, first.Ack = batch, ackToken, ack
}

// LinkResponse sets the batch and the acks of a message; see flow.NewStream.
func LinkResponse(first *toolhostv1.ConnectResponse, batch []*toolhostv1.ConnectResponse, ackToken, ack uint64) {
	first.Batch, first.AckToken, first.Ack = batch, ackToken, ack
}
