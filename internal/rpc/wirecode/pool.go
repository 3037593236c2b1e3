package wirecode

import "sync"

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
