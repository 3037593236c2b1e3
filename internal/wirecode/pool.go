package wirecode

import "sync"

// middling is a size that many frames have which travel together, and hardly any that travels alone.
const middling = 4 << 10

// pool is memory for messages of up to largest bytes, which is used again as it is: gRPC's own clears it first, and for what has
// more than 32 KiB it takes, and clears, a whole MiB. The zero value is ready. It is safe for concurrent use.
type pool struct {
	small, large sync.Pool // of *[]byte
}

// Get implements mem.BufferPool. What is in the memory is anything.
func (p *pool) Get(size int) *[]byte {
	from, most := &p.large, largest
	if size <= middling {
		from, most = &p.small, middling
	}
	b, ok := from.Get().(*[]byte)
	if !ok {
		b = new(make([]byte, most))
	}
	*b = (*b)[:size]
	return b
}

// Put implements mem.BufferPool.
func (p *pool) Put(b *[]byte) {
	if cap(*b) == middling {
		p.small.Put(b)
	} else {
		p.large.Put(b)
	}
}
