// Package wirecode encodes and decodes the messages that every call is made of: it has what the code generated for them in
// gen/go stands on, and the gRPC codec that uses that code on both hops.
//
// It owns how such a message becomes bytes and back, in whose memory the bytes are, and what is refused: the same that
// google.golang.org/protobuf refuses. It does not know the messages, nor does it have the code for each: that is made by
// tools/cmd/protoc-gen-go-wire from proto/. Messages without such code are encoded by gRPC's own codec.
package wirecode
