package grpcserver

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
)

// decode decodes a request as the server does, from pieces as the network delivers them.
func decode(data []byte, m proto.Message) error {
	var pieces mem.BufferSlice
	for len(data) > 0 {
		n := min(len(data), 16<<10)
		pieces = append(pieces, mem.SliceBuffer(data[:n]))
		data = data[n:]
	}
	return Bounded(nil, 0).Unmarshal(pieces, m)
}

// A request with more elements than agentd ever accepts is refused before it takes memory, wherever
// the elements are.
func TestRequestsWithTooManyElements(t *testing.T) {
	attachment := func(n int) []byte { // StartRunRequest.attachments
		return bytes.Repeat(append(protowire.AppendTag(nil, 19, protowire.BytesType), 0), n)
	}
	inner, err := proto.Marshal(&agentdv1.ToolChoice{Names: make([]string, maxElements)})
	if err != nil {
		t.Fatal(err)
	}
	many := &agentdv1.StartRunRequest{Tools: &agentdv1.ToolChoice{}}
	many.Tools.ProtoReflect().SetUnknown(inner) // is encoded as the field itself
	nested, err := proto.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := proto.Marshal(&agentdv1.ListRunsRequest{States: make([]agentdv1.RunState, maxElements)})
	if err != nil {
		t.Fatal(err)
	}
	for what, test := range map[string]struct {
		data []byte
		into proto.Message
	}{
		"attachments": {attachment(maxElements + 1), &agentdv1.StartRunRequest{}},
		"names":       {nested, &agentdv1.StartRunRequest{}},
		"states":      {packed, &agentdv1.ListRunsRequest{}},
	} {
		if err := decode(test.data, test.into); err == nil || !strings.Contains(err.Error(), "too many elements") || proto.Size(test.into) > 0 {
			t.Errorf("%s: %v", what, err)
		}
	}
	var req agentdv1.StartRunRequest
	if err := decode(attachment(maxElements), &req); err != nil || len(req.GetAttachments()) != maxElements {
		t.Errorf("as many as may be: %v, %d", err, len(req.GetAttachments()))
	}
}

// Messages in messages cannot exhaust the stack, and what is malformed is refused by the decoder.
func TestRequestsThatNestDeeply(t *testing.T) {
	value := structpb.NewNullValue()
	for range maxNesting {
		value = structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{value}})
	}
	data, err := proto.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := decode(data, new(structpb.Value)); err == nil || !strings.Contains(err.Error(), "32 levels") {
		t.Errorf("deep: %v", err)
	}
	for _, bad := range [][]byte{{0xff}, protowire.AppendVarint(protowire.AppendTag(nil, 19, protowire.BytesType), 9), {0}} {
		if err := decode(bad, new(agentdv1.StartRunRequest)); err == nil {
			t.Errorf("%x was accepted", bad)
		}
	}
}
