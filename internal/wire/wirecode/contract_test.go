package wirecode_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/wirecode"
)

// message is a message that both encoders support.
type message interface {
	proto.Message
	wirecode.Message
}

// kinds are the top-level messages. They contain all other messages with generated code.
var kinds = []message{
	&pluginv1.ConnectRequest{}, &pluginv1.ConnectResponse{},
	&toolhostv1.ConnectRequest{}, &toolhostv1.ConnectResponse{},
	&toolhostv1.CallRequest{}, &toolhostv1.CallResponse{},
	&toolhostv1.ExecuteRequest{}, &toolhostv1.ExecuteResponse{},
}

// empty returns a new message of a kind.
func empty(kind message) message { return kind.ProtoReflect().New().Interface().(message) }

// filler fills messages with random values.
type filler struct{ *rand.Rand }

func newFiller(seed uint64) filler { return filler{rand.New(rand.NewPCG(seed, seed))} }

// message sets some fields of m, with nested messages up to depth, and some unknown fields.
func (f filler) message(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if f.IntN(2) == 0 || field.Message() != nil && !field.IsMap() && depth == 0 {
			continue
		}
		switch {
		case field.IsMap():
			entries := m.Mutable(field).Map()
			for n := range f.IntN(3) {
				entries.Set(protoreflect.ValueOfString(fmt.Sprint("key", n)).MapKey(), f.value(field.MapValue()))
			}
		case field.IsList():
			list := m.Mutable(field).List()
			for range f.IntN(3) {
				if field.Message() == nil {
					list.Append(f.value(field))
					continue
				}
				f.message(list.AppendMutable().Message(), depth-1)
			}
		case field.Message() != nil:
			f.message(m.Mutable(field).Message(), depth-1)
		default:
			m.Set(field, f.value(field))
		}
	}
	if f.IntN(4) == 0 {
		m.SetUnknown([]byte("\xca\x3e\x03new")) // field 1001
	}
}

func (f filler) value(field protoreflect.FieldDescriptor) protoreflect.Value {
	number := f.Uint64() >> f.IntN(64)
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(f.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(int32(number)))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(number) - 5)
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(number) - 5)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(number))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(number)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64([]float64{0, math.Copysign(0, -1), 1.5, math.Inf(1), -3}[f.IntN(5)])
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(strings.Repeat("wörd", f.IntN(80)))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(strings.Repeat("\xff{}", f.IntN(80))))
	default:
		panic("no values of " + field.Kind().String())
	}
}

// filled returns messages of all kinds. They are random but reproducible.
func filled(seeds int) []message {
	var all []message
	for seed := range seeds {
		for _, kind := range kinds {
			m := empty(kind)
			newFiller(uint64(seed)).message(m.ProtoReflect(), 6)
			all = append(all, m)
		}
	}
	return all
}
