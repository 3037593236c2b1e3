// Package flow provides flow control for calls that share one bidirectional gRPC stream, so that no
// call can block the others:
//
//   - A Stream sends and receives the frames of all calls, with batches and acks.
//   - An Outbox queues and sends frames. It is the sending half of a Stream.
//   - An Inbox, one per call, buffers the received frames until the reader of the call takes them.
//   - A Credit tells a sender how many bytes the Inbox at the other end still accepts.
//
// The package does not know the contracts: frames are type parameters, and callers pass their
// sizes.
//
// The credit rule is the same in all contracts: a frame costs its size; a sender may send it only
// if the credit is positive, and the frame may make the credit negative. So a receiver buffers at
// most its window and one frame.
package flow
