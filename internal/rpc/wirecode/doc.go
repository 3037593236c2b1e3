// Package wirecode encodes and decodes the messages of calls: it contains the runtime of the
// generated code in gen/go, and the gRPC codec that uses that code on both hops.
//
// It decides how such a message is encoded, which memory is used, and what is refused: the same as
// google.golang.org/protobuf refuses. It does not know the messages. tools/cmd/protoc-gen-go-wire
// generates the code for each of them from proto/. gRPC's own codec encodes messages without such
// code.
package wirecode
