package wirecode

import (
	"errors"
	"sync"

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

// smallest is up to where memory is not worth being used again, by gRPC's measure.
const smallest = 1 << 10

// Codec is the codec of a gRPC connection whose messages are mostly those with generated code. It is safe for concurrent use.
// A message that was received has memory of its own.
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

// Unmarshal implements encoding.CodecV2.
func (c *Codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(Message)
	if !ok {
		return c.others.Unmarshal(data, v)
	}
	m.Reset()
	r := c.readers.Get().(*Reader)
	defer c.readers.Put(r)
	buffer := data.MaterializeToBuffer(&c.buffers)
	defer buffer.Free()
	return r.decode(buffer.ReadOnlyData(), m)
}

// The sizes of memory that is used again.
const (
	// sizeFew holds a few small frames that travel together.
	sizeFew = 4 << 10
	// sizeMany holds as many of them as there may be, which is flow.BatchBytes.
	sizeMany = 32 << 10
	// sizePiece holds a frame with the most payload that the contracts allow, 64 KiB, and 8 KiB for what is around it. What is
	// larger is rare, and not used again.
	sizePiece = 72 << 10
)

// pool is memory for messages, which is used again as it is: gRPC's own clears it first, and for what has more than 32 KiB it
// takes, and clears, a whole MiB. The zero value is ready. It is safe for concurrent use.
type pool struct {
	few, many, piece sync.Pool // of *[]byte
}

// Get implements mem.BufferPool. What is in the memory is anything.
func (p *pool) Get(size int) *[]byte {
	of, most := p.of(size)
	if of == nil {
		return new(make([]byte, size))
	}
	b, ok := of.Get().(*[]byte)
	if !ok {
		b = new(make([]byte, most))
	}
	*b = (*b)[:size]
	return b
}

// Put implements mem.BufferPool.
func (p *pool) Put(b *[]byte) {
	if of, most := p.of(cap(*b)); of != nil && cap(*b) == most {
		of.Put(b)
	}
}

// of returns where memory for so many bytes is kept, and how large that is; nil where it is not kept.
func (p *pool) of(size int) (kept *sync.Pool, most int) {
	switch {
	case size <= sizeFew:
		return &p.few, sizeFew
	case size <= sizeMany:
		return &p.many, sizeMany
	case size <= sizePiece:
		return &p.piece, sizePiece
	default:
		return nil, 0
	}
}
