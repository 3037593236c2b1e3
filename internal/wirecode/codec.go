package wirecode

import (
	"errors"
	"strings"
	"sync"
	"unsafe"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// Message is a message with generated code. Nobody implements it by hand.
type Message interface {
	// Reset empties the message.
	Reset()
	// SizeWire returns how many bytes the message has when it is encoded. That of nil is 0.
	SizeWire() int
	// WriteWire encodes the message. nil has no fields.
	WriteWire(w *Writer)
	// ReadWire decodes the message beside what is there, up to the end of what r reads.
	ReadWire(r *Reader)
}

const (
	// largest is more than frames that travel together have (flow.TogetherBytes). So what is larger is one frame, most of it
	// one payload, which is worth keeping apart from the rest; what is smaller is copied into memory that is used again.
	largest = 33 << 10
	// smallest is up to where memory is not worth being used again, by gRPC's measure.
	smallest = 1 << 10
	// apart is from where on a payload of a large message is handed to gRPC as it is, in place of a copy.
	apart = 4 << 10
	// around is more than most large messages have besides their payloads; more is made where it is needed.
	around = 256
)

// Codec is the codec of a gRPC connection whose messages are mostly those with generated code. It is safe for concurrent use.
//
// A received text or payload that makes up at least half of a message of more than 33 KiB is not copied out of it. So it keeps
// up to twice its size from being collected, and its bytes must not be written to by who has sent them on.
type Codec struct {
	others  encoding.CodecV2
	writers sync.Pool // of *Writer
	readers sync.Pool // of *Reader
	buffers pool
}

// NewCodec returns a codec with memory of its own.
func NewCodec() *Codec {
	return &Codec{
		others:  encoding.GetCodecV2(proto.Name),
		writers: sync.Pool{New: func() any { return new(Writer) }},
		readers: sync.Pool{New: func() any { return new(Reader) }},
	}
}

// Name implements encoding.CodecV2: what is sent is protobuf.
func (c *Codec) Name() string { return proto.Name }

var errChanged = errors.New("the message changed while it was encoded")

// Marshal implements encoding.CodecV2.
func (c *Codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(Message)
	if !ok {
		return c.others.Marshal(v)
	}
	size := m.SizeWire()
	if size > largest {
		return c.marshalLarge(m, size)
	}
	var pooled *[]byte
	w := c.writers.Get().(*Writer)
	if size > smallest {
		pooled = c.buffers.Get(size)
		w.buf = *pooled
	} else {
		w.buf = make([]byte, size)
	}
	w.at = size
	m.WriteWire(w)
	encoded, left := w.buf, w.at
	*w = Writer{}
	c.writers.Put(w)
	if left != 0 || len(encoded) != size {
		return nil, errChanged
	}
	if pooled != nil {
		return mem.BufferSlice{mem.NewBuffer(pooled, &c.buffers)}, nil
	}
	return mem.BufferSlice{mem.SliceBuffer(encoded)}, nil
}

// marshalLarge hands on large payloads as they are.
func (c *Codec) marshalLarge(m Message, size int) (mem.BufferSlice, error) {
	w := &Writer{buf: make([]byte, around), at: around, apart: apart}
	m.WriteWire(w)
	if w.len() != size {
		return nil, errChanged
	}
	data := make(mem.BufferSlice, 0, 2*len(w.cuts)+1)
	from := w.at
	for i := len(w.cuts) - 1; i >= 0; i-- {
		to := len(w.buf) - w.cuts[i].behind
		if to > from {
			data = append(data, mem.SliceBuffer(w.buf[from:to]))
		}
		data = append(data, mem.SliceBuffer(w.cuts[i].payload))
		from = to
	}
	if from < len(w.buf) {
		data = append(data, mem.SliceBuffer(w.buf[from:]))
	}
	return data, nil
}

// Unmarshal implements encoding.CodecV2.
func (c *Codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(Message)
	if !ok {
		return c.others.Unmarshal(data, v)
	}
	m.Reset()
	r := c.readers.Get().(*Reader)
	defer c.readers.Put(r)
	size := data.Len()
	if size > largest {
		return r.decode(joined(data, size), m, size/2)
	}
	buffer := data.MaterializeToBuffer(&c.buffers)
	defer buffer.Free()
	return r.decode(buffer.ReadOnlyData(), m, 0)
}

// joined returns all of data in memory of its own, which need not be cleared first, as that of a slice would be.
func joined(data mem.BufferSlice, size int) []byte {
	var b strings.Builder
	b.Grow(size)
	for _, buffer := range data {
		b.Write(buffer.ReadOnlyData())
	}
	return unsafe.Slice(unsafe.StringData(b.String()), size)
}
