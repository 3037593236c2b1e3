// Package wirecode encodes and decodes the messages of calls. It contains the runtime of the
// generated code in gen/go, and the gRPC codec that uses that code between caller and toolhost, and
// between toolhost and plugins.
//
// It decides how such a message is encoded and which memory is used. It refuses the same messages
// as google.golang.org/protobuf. It does not know the messages. tools/cmd/protoc-gen-go-wire
// generates the code for each of them from proto/. gRPC's own codec encodes messages without such
// code.
package wirecode
