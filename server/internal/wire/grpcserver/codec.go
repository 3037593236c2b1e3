package grpcserver

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	encodingproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// An empty message in a list has two or three bytes in a request and some hundred in memory, so
// that a request of 16 MiB of them would take gigabytes. The size of a request therefore does not
// bound its memory, and the number of its elements does.

const (
	// maxElements is the largest number of messages, list elements and map entries of a request. It is
	// far beyond every bound that toolhost and agentd check later.
	maxElements = 100_000
	// maxNesting is the largest depth of messages in a request. The contracts have fewer levels.
	maxNesting = 32
)

// boundedCodec is a codec that refuses requests with too many elements before it decodes them.
type boundedCodec struct {
	encoding.CodecV2
	small int
}

// Bounded returns a codec that decodes as another one does, except that it refuses messages with
// too many elements or levels. It does not count those of at most small bytes. nil is gRPC's own
// codec.
func Bounded(codec encoding.CodecV2, small int) encoding.CodecV2 {
	if codec == nil {
		codec = encoding.GetCodecV2(encodingproto.Name)
	}
	return boundedCodec{codec, small}
}

// Encoded is a message that is encoded already. The codec of Bounded sends it as it is, so that
// many streams can share it. It must not change.
type Encoded []byte

// Marshal implements encoding.CodecV2.
func (c boundedCodec) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(Encoded); ok {
		return mem.BufferSlice{mem.SliceBuffer(m)}, nil // freeing it does nothing
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal implements encoding.CodecV2.
func (c boundedCodec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok || data.Len() <= c.small {
		return c.CodecV2.Unmarshal(data, v)
	}
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	elements := 0
	if err := countElements(whole.ReadOnlyData(), m.ProtoReflect().Descriptor(), maxNesting, &elements); err != nil {
		return err
	}
	return c.CodecV2.Unmarshal(mem.BufferSlice{whole}, v)
}

// countElements adds the elements of an encoded message to *elements. It returns an error if they
// are too many. It ignores what is malformed: decoding refuses that.
func countElements(data []byte, of protoreflect.MessageDescriptor, levels int, elements *int) error {
	if levels == 0 {
		return fmt.Errorf("the request has messages in messages, more than %d levels deep", maxNesting)
	}
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return nil
		}
		data = data[n:]
		if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
			return nil
		}
		value := data[:n]
		data = data[n:]
		field := of.Fields().ByNumber(number)
		if field == nil || field.Cardinality() != protoreflect.Repeated && field.Message() == nil {
			continue // unknown fields stay encoded
		}
		inner, _ := protowire.ConsumeBytes(value)
		if *elements++; kind == protowire.BytesType && packable(field.Kind()) {
			*elements += len(inner) // each one has a byte or more
		}
		if *elements > maxElements {
			return fmt.Errorf("the request has too many elements: its lists, maps and messages may have %d together", maxElements)
		}
		if kind == protowire.BytesType && field.Message() != nil {
			if err := countElements(inner, field.Message(), levels-1, elements); err != nil {
				return err
			}
		}
	}
	return nil
}

// packable reports whether a list of a kind can be one field with all elements.
func packable(kind protoreflect.Kind) bool {
	switch kind {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind, protoreflect.GroupKind:
		return false
	}
	return true
}
