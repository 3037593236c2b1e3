package wirecode

import (
	"errors"
	"sync"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// Message is implemented by generated code only.
type Message interface {
	// Reset empties the message.
	Reset()
	// SizeWire returns the encoded size in bytes. The size of nil is 0.
	SizeWire() int
	// WriteWire encodes the message. nil is an empty message.
	WriteWire(w *Writer)
	// ReadWire decodes fields into the message until the end of the current message of r, and keeps
	// fields that are already set.
	ReadWire(r *Reader)
}

// smallest is the size up to which reusing memory does not pay, by gRPC's measure.
const smallest = 1 << 10

// Codec is the codec of gRPC connections. It uses the generated code for messages that have it, and
// gRPC's own codec for all others. A received message does not share memory with the connection. A
// Codec is safe for concurrent use.
type Codec struct {
	others  encoding.CodecV2
	writers sync.Pool // of *Writer
	readers sync.Pool // of *Reader
	buffers pool
}

// NewCodec returns a codec with its own buffer pools.
func NewCodec() *Codec {
	return &Codec{
		others:  encoding.GetCodecV2(proto.Name),
		writers: sync.Pool{New: func() any { return new(Writer) }},
		readers: sync.Pool{New: func() any { return new(Reader) }},
	}
}

// Name implements encoding.CodecV2: the encoding is protobuf.
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

// The sizes of pooled buffers.
const (
	// sizeFew fits a few small frames.
	sizeFew = 4 << 10
	// sizeMany fits the largest batch of package flow.
	sizeMany = 32 << 10
	// sizePiece fits a frame with the maximum payload of the contracts, 64 KiB, and 8 KiB for the
	// rest. Larger messages are rare, and their buffers are not pooled.
	sizePiece = 72 << 10
)

// pool is a pool of message buffers. In contrast to gRPC's pool, it does not clear buffers, and it
// does not use, and clear, a whole MiB for messages of more than 32 KiB. The zero value is ready
// for use. A pool is safe for concurrent use.
type pool struct {
	few, many, piece sync.Pool // of *[]byte
}

// Get implements mem.BufferPool. The buffer contains arbitrary bytes.
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

// of returns the pool for buffers of a size, and the size of its buffers. It returns nil for sizes
// that are not pooled.
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
