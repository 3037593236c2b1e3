// Package logbuffer keeps the last log lines of plugins in memory, for operators that read and
// follow them.
//
// The buffer bounds the lines of each source, which is a plugin that works for a tenant, the bytes
// of each line, the lines per second, and the bytes of all sources together. If all sources
// together have too many bytes, the source with the most bytes loses its oldest lines. So neither
// another plugin nor the same plugin for another tenant removes the lines of a quiet source. A
// writer never waits for a reader, so that neither a flood of lines nor a slow reader can delay a
// plugin.
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

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

// Config bounds a Buffer. The zero value of each field is the default.
type Config struct {
	LinesPerPlugin int // for each tenant; 0: 2,000
	LineBytes      int // of a message or its attributes; the rest is cut off; 0: 8 KiB
	LinesPerSecond int // of one plugin for one tenant; the rest is counted and dropped; 0: 1,000
	// MaxBytes bounds the lines of all sources together, with the overhead of storing them; 0: 64
	// MiB. The buffer keeps the newest line whatever its size.
	MaxBytes int
	// Redact returns a record as the buffer may store it. It must not block, and must not change
	// its argument. Nil: records are stored as they are.
	Redact func(tool.LogRecord) tool.LogRecord
}

// Buffer holds the lines of all sources. All methods are safe for concurrent use.
type Buffer struct {
	cfg Config

	mu      sync.Mutex
	sources map[source]*sourceLines
	bytes   int           // of all lines, see size
	last    uint64        // the number of the newest line
	changed chan struct{} // closed at the next line
}

// source is what has lines: a plugin for a tenant.
type source struct{ plugin, tenant string }

// New returns an empty buffer.
func New(cfg Config) *Buffer {
	cfg.LinesPerPlugin = cmp.Or(cfg.LinesPerPlugin, 2000)
	cfg.LineBytes = cmp.Or(cfg.LineBytes, 8<<10)
	cfg.LinesPerSecond = cmp.Or(cfg.LinesPerSecond, 1000)
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, 64<<20)
	return &Buffer{cfg: cfg, sources: map[source]*sourceLines{}, changed: make(chan struct{})}
}

// Append adds a line with the next number, and with the present time if it has none. It drops lines
// of a source that exceeds the lines per second. Before the next line of that source, it adds a
// line with the number of dropped ones.
func (b *Buffer) Append(line tool.LogLine) {
	if line.Record.Time.IsZero() {
		line.Record.Time = time.Now()
	}
	if b.cfg.Redact != nil {
		line.Record = b.cfg.Redact(line.Record) // before cut, which could split a secret
	}
	b.cut(&line.Record)
	b.mu.Lock()
	defer b.mu.Unlock()
	from := source{line.Plugin, tenantOf(&line)}
	p := b.sources[from]
	if p == nil {
		p = &sourceLines{}
		b.sources[from] = p
	}
	if second := time.Now().Unix(); second != p.second {
		p.second, p.taken = second, 0
	}
	if p.taken >= b.cfg.LinesPerSecond {
		p.dropped++
		b.last++ // readers see a gap in the numbers
		return
	}
	if p.dropped > 0 {
		message := fmt.Sprintf("%d lines were dropped: the plugin writes more than %d a second", p.dropped, b.cfg.LinesPerSecond)
		p.dropped = 0
		b.put(p, tool.LogLine{Plugin: line.Plugin, Instance: line.Instance, Tenant: line.Tenant, Record: tool.LogRecord{Time: line.Record.Time, Level: tool.LogWarn, Message: message}})
	}
	b.put(p, line)
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *Buffer) put(p *sourceLines, line tool.LogLine) {
	p.taken++
	b.last++
	line.Seq = b.last
	if p.len() == b.cfg.LinesPerPlugin {
		b.bytes -= p.removeOldest()
	}
	b.bytes += p.add(line)
	for b.bytes > b.cfg.MaxBytes {
		at, largest := b.largest(p)
		if largest == nil {
			return
		}
		b.bytes -= largest.removeOldest()
		if largest.len() == 0 {
			delete(b.sources, at)
		}
	}
}

// largest returns the source that has to lose a line; nil if only the newest line is left. That is
// usually the source with the most bytes. If the source that has just written has more than an
// equal share, largest returns that one without looking at the others. So a flood of one plugin
// among a thousand costs little.
func (b *Buffer) largest(written *sourceLines) (at source, largest *sourceLines) {
	if written.len() > 1 && written.bytes > b.cfg.MaxBytes/len(b.sources) {
		return source{}, written // which keeps a line
	}
	for from, p := range b.sources {
		if spare := p.len() > 1 || p.len() == 1 && p != written; spare && (largest == nil || p.bytes > largest.bytes) {
			at, largest = from, p
		}
	}
	return at, largest
}

// cut bounds the size of one record.
func (b *Buffer) cut(r *tool.LogRecord) {
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

// after returns the lines after a number that match, in order, the number of the newest line, and a
// channel that is closed at the next line.
func (b *Buffer) after(seq uint64, q tool.LogQuery) (lines []tool.LogLine, newest uint64, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for from, p := range b.sources {
		if q.Plugin != "" && q.Plugin != from.plugin {
			continue
		}
		for _, line := range p.all() {
			if line.Seq > seq && (q.CallID == "" || q.CallID == line.CallID) && visible(&line, q.Tenants) {
				lines = append(lines, line)
			}
		}
	}
	slices.SortFunc(lines, func(x, y tool.LogLine) int { return cmp.Compare(x.Seq, y.Seq) })
	return lines, b.last, b.changed
}

// visible reports whether a line belongs to one of the tenants, or concerns no tenant.
func visible(line *tool.LogLine, tenants tool.Tenants) bool {
	of := tenantOf(line)
	return of == "" || tenants.Contain(of)
}

// tenantOf returns the tenant of a line; "": the line concerns all tenants. A line of an instance
// without a tenant belongs to the default tenant.
func tenantOf(line *tool.LogLine) string {
	if line.Tenant == "" && (line.Instance != "" || line.CallID != "") {
		return identity.DefaultTenant
	}
	return line.Tenant
}

// Tail returns the lines that match: first those in the buffer, the oldest first, then, if q.Follow
// is set, new ones until ctx ends. The last error is the cause of ctx.
func (b *Buffer) Tail(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error] {
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
