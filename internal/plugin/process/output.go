package process

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/crashoutput"
)

const (
	tailLines   = 50      // kept lines of standard error: enough for most Go panics of one goroutine and what led to them
	queuedBytes = 1 << 20 // bound of the lines that wait for a slow logger

	// droppedDelay is the time after which the number of dropped lines is logged if no other line
	// is logged before.
	droppedDelay = time.Second
)

// output takes the lines that a process prints, and never blocks the process. It keeps the last
// lines of standard error and logs all lines, as far as the budgets and the logger allow. It counts
// the lines that it drops. It is safe for concurrent use.
type output struct {
	wake chan struct{} // of capacity 1: there is something to log
	done chan struct{}

	mu             sync.Mutex
	queue          []record
	size           int // bytes in the queue
	logger         *slog.Logger
	closed         bool
	tail           []string // the oldest line first
	crash          string   // the line with which Go's runtime last began to report a crash
	after          int      // lines since then
	dropped        dropped  // since a line was queued, or since dropped lines were logged
	stdout, stderr budget
}

// newOutput starts the goroutine that logs at most perSecond lines of standard error in a second.
// close ends it.
func newOutput(logger *slog.Logger, linesPerSecond int) *output {
	o := &output{
		logger: logger,
		wake:   make(chan struct{}, 1),
		done:   make(chan struct{}),
		stderr: budget{burst: float64(linesPerSecond), perSecond: float64(linesPerSecond)},
		stdout: budget{burst: 20, perSecond: 2}, // a plugin should print nothing there
	}
	go o.run()
	return o
}

// with adds attributes to all records.
func (o *output) with(args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.logger = o.logger.With(args...)
}

// stderrLine takes a line of standard error.
func (o *output) stderrLine(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if len(o.tail) == tailLines {
		o.tail = slices.Delete(o.tail, 0, 1)
	}
	o.tail = append(o.tail, line)
	o.after++
	if beginsCrash(line) {
		o.crash, o.after = line, 0
	}
	o.offer(&o.stderr, len(line), func() record {
		r := parseRecord(line)
		if beginsCrash(line) {
			r.level = slog.LevelError
		}
		return r
	})
}

// beginsCrash reports whether a line is one with which Go's runtime begins to report a crash. The
// stack follows it.
func beginsCrash(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
}

// stdoutLine takes a line of standard output other than the handshake. Its importance is unknown,
// as on standard error.
func (o *output) stdoutLine(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.offer(&o.stdout, len(line), func() record {
		return record{level: slog.LevelInfo, message: line, attrs: []slog.Attr{slog.String("stream", "stdout")}}
	})
}

// offer queues the record of a line if the budget and the queue allow it. The caller holds the
// lock.
func (o *output) offer(b *budget, size int, make func() record) {
	if o.size+size > queuedBytes || !b.take(time.Now()) {
		o.dropped.count++
		if o.dropped.last = time.Now(); o.dropped.count == 1 {
			o.signal() // so that the number is logged soon even if no line follows
		}
		return
	}
	r := make()
	r.size, r.dropped, o.dropped = size, o.dropped, dropped{}
	o.queue = append(o.queue, r)
	o.size += size
	o.signal()
}

func (o *output) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// lastLines returns the kept lines of standard error, the oldest first.
func (o *output) lastLines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.tail)
}

// lastWords is lastLines for a process that Go's runtime ended. The runtime's first line, which has
// the reason, is among them however many stacks follow.
func (o *output) lastWords() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	words := slices.Clone(o.tail)
	if o.crash == "" || o.after < len(words) {
		return words
	}
	words[0] = o.crash
	words[1] = crashoutput.LeftOut(o.after - (tailLines - 2))
	return words
}

// close logs the queue and waits until it is logged. Later lines are dropped.
func (o *output) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.signal()
	<-o.done
}

func (o *output) run() {
	defer close(o.done)
	overdue := time.NewTimer(droppedDelay)
	defer overdue.Stop()
	overdue.Stop()
	for {
		select {
		case <-o.wake:
		case <-overdue.C:
			o.logDropped(o.takeDropped())
			continue
		}
		o.mu.Lock()
		batch, closed := o.queue, o.closed
		o.queue = nil
		if o.dropped.count > 0 {
			overdue.Reset(droppedDelay)
		}
		o.mu.Unlock()
		for _, r := range batch {
			o.logDropped(r.dropped).LogAttrs(context.Background(), r.level, r.message, r.attrs...)
			o.mu.Lock()
			o.size -= r.size // the record that is being logged still counts
			o.mu.Unlock()
		}
		if closed {
			o.logDropped(o.takeDropped())
			return
		}
	}
}

// dropped counts lines that were not logged.
type dropped struct {
	count int
	last  time.Time // when the last one arrived
}

func (o *output) takeDropped() dropped {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.dropped
	o.dropped = dropped{}
	return d
}

// logDropped logs the number of dropped lines with the time of the last one, and returns the
// logger.
func (o *output) logDropped(d dropped) *slog.Logger {
	o.mu.Lock()
	logger := o.logger
	o.mu.Unlock()
	if d.count > 0 && logger.Enabled(context.Background(), slog.LevelWarn) {
		r := slog.NewRecord(d.last, slog.LevelWarn, "the plugin printed more lines than are logged", 0)
		r.AddAttrs(slog.Int("dropped", d.count))
		_ = logger.Handler().Handle(context.Background(), r) // as slog.Logger does: it also drops the error
	}
	return logger
}

// budget bounds logged lines: burst at once, and perSecond more with time. The zero value allows
// none.
type budget struct {
	burst, perSecond float64
	used             float64
	at               time.Time // the time for which used is correct
}

func (b *budget) take(now time.Time) bool {
	b.used = max(0, b.used-now.Sub(b.at).Seconds()*b.perSecond)
	b.at = now
	if b.used+1 > b.burst {
		return false
	}
	b.used++
	return true
}
