package logbuffer

import (
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// pages are one plugin's lines. Book.mu guards them.
type pages struct {
	lines []tool.LogLine // the first torn are empty
	torn  int
	bytes int // of the others, as size counts them

	second  int64 // the one that taken counts
	taken   int
	dropped int
}

func (p *pages) len() int { return len(p.lines) - p.torn }

// all returns the lines, the oldest first. They are shared: do not change them.
func (p *pages) all() []tool.LogLine { return p.lines[p.torn:] }

// add adds a line and returns its size.
func (p *pages) add(line tool.LogLine) int {
	p.lines = append(p.lines, line)
	n := size(&line)
	p.bytes += n
	return n
}

// tear takes the oldest line out and returns its size. There must be one.
func (p *pages) tear() int {
	n := size(&p.lines[p.torn])
	p.lines[p.torn] = tool.LogLine{} // or what it refers to would stay
	p.torn++
	p.bytes -= n
	// Half of them: each line is moved once at most, and what is kept for nothing is no more than
	// what is kept.
	if p.torn > len(p.lines)/2 {
		p.lines = slices.Clone(p.lines[p.torn:])
		p.torn = 0
	}
	return n
}

// lineBytes is what a line takes besides its texts: its place among the others, which may be twice
// there, and what the allocator adds to each text.
const lineBytes = 512

// size returns about how many bytes it takes to keep a line.
func size(line *tool.LogLine) int {
	n := lineBytes + len(line.Plugin) + len(line.Instance) + len(line.CallID) + len(line.Record.Message)
	for key, value := range line.Record.Attributes {
		const entry = 128 // of a small map, for one attribute
		n += entry + len(key) + len(value)
	}
	return n
}
