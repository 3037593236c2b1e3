package logbuffer

import (
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// sourceLines is the lines of one source. The mutex of the buffer guards it.
type sourceLines struct {
	lines   []tool.LogLine // the first removed elements are empty
	removed int
	bytes   int // of the other elements, see size

	second  int64 // the second in which taken lines came
	taken   int
	dropped int
}

func (p *sourceLines) len() int { return len(p.lines) - p.removed }

// all returns the lines, the oldest first. The caller must not change them.
func (p *sourceLines) all() []tool.LogLine { return p.lines[p.removed:] }

// add adds a line and returns its size.
func (p *sourceLines) add(line tool.LogLine) int {
	p.lines = append(p.lines, line)
	n := size(&line)
	p.bytes += n
	return n
}

// removeOldest removes the oldest line and returns its size. There must be one.
func (p *sourceLines) removeOldest() int {
	n := size(&p.lines[p.removed])
	p.lines[p.removed] = tool.LogLine{} // else its strings would stay in memory
	p.removed++
	p.bytes -= n
	// Copying when half of the slice is empty moves each line at most once, and wastes at most as
	// much memory as the lines take.
	if p.removed > len(p.lines)/2 {
		p.lines = slices.Clone(p.lines[p.removed:])
		p.removed = 0
	}
	return n
}

// lineBytes is what a line takes besides its texts: its element in the slice, which may exist
// twice, and the overhead of the allocator for each text.
const lineBytes = 512

// size returns approximately how many bytes it takes to store a line.
func size(line *tool.LogLine) int {
	n := lineBytes + len(line.Plugin) + len(line.Instance) + len(line.CallID) + len(line.Record.Message)
	for key, value := range line.Record.Attributes {
		const entry = 128 // the overhead of one attribute in a small map
		n += entry + len(key) + len(value)
	}
	return n
}
