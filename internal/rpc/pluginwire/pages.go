package pluginwire

import "strings"

const (
	minPage = 512
	maxPage = 1 << 20
)

// pages gathers a payload whose size is not known, and is put together once: growing one slice instead would hold the
// payload twice while it grows, and leave as much again behind. The zero value is empty.
type pages struct {
	full [][]byte
	last []byte
	size int
}

// add takes a copy of data. What is small stays small: there is never room for more than twice what came, or 1 MiB.
func (p *pages) add(data []byte) {
	p.size += len(data)
	for len(data) > 0 {
		if len(p.last) == cap(p.last) {
			if len(p.last) > 0 {
				p.full = append(p.full, p.last)
			}
			p.last = make([]byte, 0, min(max(p.size, minPage), maxPage))
		}
		n := min(len(data), cap(p.last)-len(p.last))
		p.last = append(p.last, data[:n]...)
		data = data[n:]
	}
}

// text returns all of it and then tail, and is empty afterwards.
func (p *pages) text(tail string) string {
	var b strings.Builder
	b.Grow(p.size + len(tail))
	p.drain(func(page []byte) { b.Write(page) })
	b.WriteString(tail)
	return b.String()
}

// bytes returns all of it and then tail, and is empty afterwards.
func (p *pages) bytes(tail []byte) []byte {
	b := make([]byte, 0, p.size+len(tail))
	p.drain(func(page []byte) { b = append(b, page...) })
	return append(b, tail...)
}

// drain hands over the pages, and lets go of each.
func (p *pages) drain(take func(page []byte)) {
	for i, page := range p.full {
		take(page)
		p.full[i] = nil
	}
	take(p.last)
	*p = pages{}
}
