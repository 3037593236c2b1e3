// Package logbuffer keeps the last lines that plugins wrote, for operators to read and follow.
//
// It is bounded in every direction: lines kept per plugin, bytes per line, lines per second, and
// bytes of all plugins together, for which those pay first who wrote most. Writing never waits for
// a reader, so that neither a flood nor a reader that went away can hold up a plugin.
package logbuffer

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
	// MaxBytes bounds the lines of all plugins together, with what it takes to keep them; 0: 64
	// MiB. Where they are more, the plugin whose lines take most loses its oldest. The newest line
	// is kept, whatever its size.
	MaxBytes int
	// Redact returns a record as it may be kept. It must not block, nor change what it is given.
	// Nil: as it is.
	Redact func(tool.LogRecord) tool.LogRecord
}

// Book holds the lines of all plugins. Its methods may be called from any goroutine.
type Book struct {
	cfg Config

	mu      sync.Mutex
	plugins map[string]*pages
	bytes   int           // of all lines, as size counts them
	last    uint64        // the newest line's number
	changed chan struct{} // closed at the next line
}

// New returns an empty book.
func New(cfg Config) *Book {
	cfg.LinesPerPlugin = cmp.Or(cfg.LinesPerPlugin, 2000)
	cfg.LineBytes = cmp.Or(cfg.LineBytes, 8<<10)
	cfg.LinesPerSecond = cmp.Or(cfg.LinesPerSecond, 1000)
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, 64<<20)
	return &Book{cfg: cfg, plugins: map[string]*pages{}, changed: make(chan struct{})}
}

// Append adds a line. The book gives it its number, and its time if it has none. A line of a plugin
// that floods is dropped; the next that is kept is preceded by one that says how many were.
func (b *Book) Append(line tool.LogLine) {
	if line.Record.Time.IsZero() {
		line.Record.Time = time.Now()
	}
	if b.cfg.Redact != nil {
		line.Record = b.cfg.Redact(line.Record) // before it is cut: no secret is cut in two
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
	if p.len() == b.cfg.LinesPerPlugin {
		b.bytes -= p.tear()
	}
	b.bytes += p.add(line)
	for b.bytes > b.cfg.MaxBytes {
		largest := b.largest(p)
		if largest == nil {
			return
		}
		b.bytes -= largest.tear()
	}
}

// largest returns the pages that have to give a line; nil if there is none but the newest. That is
// who takes most, or who was just written to and takes more than its share: then nobody has to look
// at the others, which matters when one plugin floods beside a thousand.
func (b *Book) largest(written *pages) *pages {
	if written.len() > 1 && written.bytes > b.cfg.MaxBytes/len(b.plugins) {
		return written
	}
	var largest *pages
	for _, p := range b.plugins {
		if spare := p.len() > 1 || p.len() == 1 && p != written; spare && (largest == nil || p.bytes > largest.bytes) {
			largest = p
		}
	}
	return largest
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

// after returns the lines with a higher number that match, in order, and what is closed when there
// is another.
func (b *Book) after(seq uint64, q tool.LogQuery) (lines []tool.LogLine, newest uint64, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, p := range b.plugins {
		if q.Plugin != "" && q.Plugin != name {
			continue
		}
		for _, line := range p.all() {
			if line.Seq > seq && (q.CallID == "" || q.CallID == line.CallID) {
				lines = append(lines, line)
			}
		}
	}
	slices.SortFunc(lines, func(x, y tool.LogLine) int { return cmp.Compare(x.Seq, y.Seq) })
	return lines, b.last, b.changed
}

// Tail returns the lines that match: those that are kept, the oldest first, then, if q.Follow is
// set, new ones until ctx ends, whose cause is the last error.
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
