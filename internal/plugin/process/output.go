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
	tailLines   = 50      // last lines of standard error that are kept: most Go panics of one goroutine and what led to them
	queuedBytes = 1 << 20 // of lines that wait for a slow logger

	// droppedDelay is how long lines that are not logged are counted before that is told, if nothing else is logged meanwhile.
	droppedDelay = time.Second
)

// output takes what a process prints, from any goroutine, without ever blocking it: it keeps the last lines of standard
// error and logs all lines, as far as the budgets and the logger keep up. What they do not is counted.
type output struct {
	wake chan struct{} // of capacity 1: there is something to log
	done chan struct{}

	mu             sync.Mutex
	queue          []record
	size           int // of what is queued, in bytes
	logger         *slog.Logger
	closed         bool
	tail           []string // the oldest first
	crash          string   // the line with which Go's runtime last began to say why it ends the process
	after          int      // lines since
	dropped        dropped  // since a line was queued, or that was logged
	stdout, stderr budget
}

// newOutput starts the goroutine that logs, of standard error at most so many lines a second. It is ended by close.
func newOutput(logger *slog.Logger, linesPerSecond int) *output {
	o := &output{
		logger: logger,
		wake:   make(chan struct{}, 1),
		done:   make(chan struct{}),
		stderr: budget{burst: float64(linesPerSecond), perSecond: float64(linesPerSecond)},
		stdout: budget{burst: 20, perSecond: 2}, // nothing belongs there
	}
	go o.run()
	return o
}

// with adds to what every record says.
func (o *output) with(args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.logger = o.logger.With(args...)
}

// newLines returns what cuts a stream into lines of the length that is kept.
func (p *Process) newLines(emit func(line string)) *lines {
	return &lines{emit: emit, redact: p.cfg.Redact, limit: p.cfg.LineBytes}
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

// beginsCrash reports whether a line is one with which Go's runtime begins to say why it ends the process. Where it did
// comes after it.
func beginsCrash(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
}

// stdoutLine takes a line of standard output that is not the handshake. A print is as important there as on standard error:
// nobody knows how much.
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

// offer queues the record of a line if there is budget and room for it. The lock is held.
func (o *output) offer(b *budget, size int, make func() record) {
	if o.size+size > queuedBytes || !b.take(time.Now()) {
		o.dropped.count++
		if o.dropped.last = time.Now(); o.dropped.count == 1 {
			o.signal() // it is told soon, also if nothing follows that is logged
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

// lastLines returns the last lines of standard error, the oldest first.
func (o *output) lastLines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.tail)
}

// lastWords returns lastLines of a process whose Go runtime ended it. What the runtime says first, which is why, is
// among them however many stacks came after it.
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

// close logs what is queued and waits for it. Lines that come later are dropped.
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
			o.size -= r.size // what is being logged is still held
			o.mu.Unlock()
		}
		if closed {
			o.logDropped(o.takeDropped())
			return
		}
	}
}

// dropped counts lines that are not logged.
type dropped struct {
	count int
	last  time.Time // when the last one came
}

func (o *output) takeDropped() dropped {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.dropped
	o.dropped = dropped{}
	return d
}

// logDropped says what was dropped, as of when the last of it came, and returns the logger.
func (o *output) logDropped(d dropped) *slog.Logger {
	o.mu.Lock()
	logger := o.logger
	o.mu.Unlock()
	if d.count > 0 && logger.Enabled(context.Background(), slog.LevelWarn) {
		r := slog.NewRecord(d.last, slog.LevelWarn, "the plugin printed more lines than are logged", 0)
		r.AddAttrs(slog.Int("dropped", d.count))
		_ = logger.Handler().Handle(context.Background(), r) // as a Logger does: there is nobody to tell
	}
	return logger
}

// budget says how many lines may be logged: burst at once, and perSecond more with time. Its zero value allows none.
type budget struct {
	burst, perSecond float64
	used             float64
	at               time.Time // when used was right
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
