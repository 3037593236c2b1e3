// Package logbook keeps the last lines that plugins wrote, for operators to read and follow.
//
// It is bounded in every direction: lines kept per plugin, bytes per line, lines per second. Writing never waits for a
// reader, so that neither a flood nor a reader that went away can hold up a plugin.
package logbook

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Config bounds a Book. The zero value of each field is the default.
type Config struct {
	LinesPerPlugin int // kept; 0: 2,000
	LineBytes      int // of a message and its attributes, the rest is cut off; 0: 8 KiB
	LinesPerSecond int // taken from one plugin, the rest is counted and dropped; 0: 1,000
}

// Book holds the lines of all plugins. Its methods may be called from any goroutine.
type Book struct {
	cfg Config

	mu      sync.Mutex
	plugins map[string]*pages
	last    uint64        // the newest line's number
	changed chan struct{} // closed at the next line
}

// pages are one plugin's lines.
type pages struct {
	lines   []tool.LogLine // a ring once it is full
	next    int            // where the next line goes
	second  int64          // the one that taken counts
	taken   int
	dropped int
}

// New returns an empty book.
func New(cfg Config) *Book {
	cfg.LinesPerPlugin = cmp.Or(cfg.LinesPerPlugin, 2000)
	cfg.LineBytes = cmp.Or(cfg.LineBytes, 8<<10)
	cfg.LinesPerSecond = cmp.Or(cfg.LinesPerSecond, 1000)
	return &Book{cfg: cfg, plugins: map[string]*pages{}, changed: make(chan struct{})}
}

// Append adds a line. The book gives it its number, and its time if it has none. A line of a plugin that floods is
// dropped; the next that is kept is preceded by one that says how many were.
func (b *Book) Append(line tool.LogLine) {
	if line.Record.Time.IsZero() {
		line.Record.Time = time.Now()
	}
	b.cut(&line.Record)
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.plugins[line.Plugin]
	if p == nil {
		p = &pages{}
		b.plugins[line.Plugin] = p
	}
	if second := time.Now().Unix(); second != p.second {
		p.second, p.taken = second, 0
	}
	if p.taken >= b.cfg.LinesPerSecond {
		p.dropped++
		b.last++ // so that the gap shows
		return
	}
	if p.dropped > 0 {
		message := fmt.Sprintf("%d lines were dropped: the plugin writes more than %d a second", p.dropped, b.cfg.LinesPerSecond)
		p.dropped = 0
		b.put(p, tool.LogLine{Plugin: line.Plugin, Instance: line.Instance, Record: tool.LogRecord{Time: line.Record.Time, Level: tool.LogWarn, Message: message}})
	}
	b.put(p, line)
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *Book) put(p *pages, line tool.LogLine) {
	p.taken++
	b.last++
	line.Seq = b.last
	if len(p.lines) < b.cfg.LinesPerPlugin {
		p.lines = append(p.lines, line)
		return
	}
	p.lines[p.next] = line
	p.next = (p.next + 1) % len(p.lines)
}

// cut bounds what one record holds.
func (b *Book) cut(r *tool.LogRecord) {
	if len(r.Message) > b.cfg.LineBytes {
		r.Message = strings.ToValidUTF8(r.Message[:b.cfg.LineBytes], "") + " … (cut off)"
	}
	size := 0
	for key, value := range r.Attributes {
		size += len(key) + len(value)
	}
	if size > b.cfg.LineBytes {
		r.Attributes = nil
		r.Message += " (its attributes were too large)"
	}
}

// after returns the lines with a higher number that match, in order, and what is closed when there is another.
func (b *Book) after(seq uint64, q tool.LogQuery) (lines []tool.LogLine, newest uint64, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, p := range b.plugins {
		if q.Plugin != "" && q.Plugin != name {
			continue
		}
		for i := range p.lines {
			line := &p.lines[(p.next+i)%len(p.lines)]
			if line.Seq > seq && (q.CallID == "" || q.CallID == line.CallID) {
				lines = append(lines, *line)
			}
		}
	}
	slices.SortFunc(lines, func(x, y tool.LogLine) int { return cmp.Compare(x.Seq, y.Seq) })
	return lines, b.last, b.changed
}

// Tail returns the lines that match: those that are kept, the oldest first, then, if q.Follow is set, new ones until ctx
// ends, whose cause is the last error.
func (b *Book) Tail(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error] {
	return func(yield func(tool.LogLine, error) bool) {
		lines, seq, changed := b.after(0, q)
		if q.Last > 0 && len(lines) > q.Last {
			lines = lines[len(lines)-q.Last:]
		}
		for {
			for _, line := range lines {
				if !yield(line, nil) {
					return
				}
			}
			if !q.Follow {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(tool.LogLine{}, context.Cause(ctx))
				return
			}
			lines, seq, changed = b.after(seq, q)
		}
	}
}
