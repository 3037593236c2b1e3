package flow

import "sync/atomic"

const (
	// BatchKey is the metadata key by which a peer announces that it reads batches, and BatchValue
	// is its value.
	BatchKey   = "toolhost-batch"
	BatchValue = "1"
	// batchBytes is the maximum size of a batch. It is large enough to share the cost of a message
	// among many calls, and small enough that a receiver does not wait for the end of a message.
	batchBytes = 32 << 10
)

// Message is a message of a stream that can carry a batch and acks. The frames in its batch carry
// neither. Generated code implements it.
type Message[M any] interface {
	GetBatch() []M
	GetAckToken() uint64
	GetAck() uint64
}

// Stream sends and receives the frames of one bidirectional gRPC stream: an Outbox, together with
// the acks of both directions and the batches. Its methods are safe for concurrent use, except
// Receive, which only the goroutine that reads the gRPC stream calls.
type Stream[Out any, In Message[In]] struct {
	*Outbox[Out]
	received atomic.Uint64 // the ack token of the last received message
}

// NewStream starts the outbox of a stream; the caller must call Close. send sends one message and
// is never called concurrently. link sets the batch, the ack token and the ack of a message. limit
// is that of NewOutbox.
func NewStream[Out any, In Message[In]](send func(Out) error, link func(first Out, batch []Out, ackToken, ack uint64), limit int) *Stream[Out, In] {
	s := &Stream[Out, In]{}
	s.Outbox = NewOutbox(func(frames []Out, ackToken uint64) error {
		link(frames[0], frames[1:], ackToken, s.received.Load())
		return send(frames[0])
	}, limit)
	return s
}

// PeerMetadata reads the values that the peer sent for BatchKey. If they announce that the peer
// reads batches, the stream sends batches from now on.
func (s *Stream[Out, In]) PeerMetadata(values []string) {
	if len(values) == 1 && values[0] == BatchValue {
		s.SetBatchLimit(batchBytes)
	}
}

// Receive processes the acks of a received message and calls take for each of its frames, in order.
func (s *Stream[Out, In]) Receive(message In, take func(In)) {
	s.received.Store(message.GetAckToken())
	s.Acked(message.GetAck())
	batch := message.GetBatch() // before take, which may clear it
	take(message)
	for _, frame := range batch {
		take(frame)
	}
}
