package process

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/toolhost/toolhost/internal/text/crashoutput"
)

const (
	tailLines   = 50      // kept lines of standard error: enough for most Go panics of one goroutine and what led to them
	queuedBytes = 1 << 20 // bound of the lines that wait for a slow logger

	// droppedDelay is the least time between two reports of dropped lines, and the time after which
	// they are reported if no other line is logged before.
	droppedDelay = time.Second
)

// output receives the lines that a process prints, and never blocks the process. It stores the last
// lines of standard error and logs all lines, as far as the limits and the logger allow. It counts
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
	dropped        dropped  // since they were reported
	reported       time.Time
	gap            bool          // a line was dropped since one was queued
	stdout, stderr *rate.Limiter // of the lines that are logged

	joined multiline // used by run only
}

// newOutput starts the goroutine that logs at most linesPerSecond lines of standard error in a
// second. lineBytes bounds the message of a record. close ends the goroutine.
func newOutput(logger *slog.Logger, linesPerSecond, lineBytes int) *output {
	o := &output{
		logger: logger,
		joined: multiline{limit: lineBytes},
		wake:   make(chan struct{}, 1),
		done:   make(chan struct{}),
		stderr: rate.NewLimiter(rate.Limit(linesPerSecond), linesPerSecond),
		stdout: rate.NewLimiter(2, 20), // a plugin should print nothing there
	}
	go o.run() // ends with close, which waits
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
	o.offer(o.stderr, len(line), func() record {
		r := parseRecord(line)
		if beginsCrash(line) {
			r.level = slog.LevelError
		}
		return r
	})
}

// fatalSignals are the lines with which Go's runtime begins to report a signal that it did not
// cause, such as one of C code or of another process.
var fatalSignals = []string{
	"SIGABRT: abort", "SIGBUS: bus error", "SIGFPE: floating-point exception", "SIGILL: illegal instruction", "SIGQUIT: quit",
	"SIGSEGV: segmentation violation", "SIGSTKFLT: stack fault", "SIGSYS: bad system call", "SIGTRAP: trace trap",
}

// beginsCrash reports whether a line is one with which Go's runtime begins to report a crash. The
// stack follows it.
func beginsCrash(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || slices.Contains(fatalSignals, line)
}

// stdoutLine takes a line of standard output other than the handshake. Its importance is unknown,
// as on standard error.
func (o *output) stdoutLine(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.offer(o.stdout, len(line), func() record {
		return record{level: slog.LevelInfo, message: line, attrs: []slog.Attr{slog.String("stream", "stdout")}}
	})
}

// offer queues the record of a line if the limit and the queue allow it. The caller holds the
// lock.
func (o *output) offer(limit *rate.Limiter, size int, make func() record) {
	if o.size+size > queuedBytes || !limit.Allow() {
		o.gap = true
		o.dropped.count++
		if o.dropped.last = time.Now(); o.dropped.count == 1 {
			o.signal() // so that the number is logged soon even if no line follows
		}
		return
	}
	r := make()
	r.at, r.size, r.gap, o.gap = time.Now(), size, o.gap, false
	if o.dropped.count > 0 && r.at.Sub(o.reported) >= droppedDelay { // a budget lets single lines through
		r.dropped = o.takeDroppedLocked()
	}
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

// lastWords returns the last lines of a process. If Go's runtime ended the process, they include
// the runtime's first line, which has the reason, even if many stacks follow.
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
	overdue, settled := time.NewTimer(droppedDelay), time.NewTimer(holdFor)
	overdue.Stop()
	settled.Stop()
	defer overdue.Stop()
	defer settled.Stop()
	for {
		select {
		case <-o.wake:
		case <-overdue.C:
			o.logDropped(o.takeDropped())
			continue
		case <-settled.C:
			o.logJoined()
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
			o.take(r)
		}
		if closed {
			o.logJoined()
			o.logDropped(o.takeDropped())
			return
		}
		if o.joined.open {
			settled.Reset(holdFor)
		}
	}
}

// take logs a record, or keeps it if further lines may continue it.
func (o *output) take(r record) {
	if !r.text || r.gap { // where lines are missing, nothing continues
		o.logJoined()
	}
	o.logDropped(r.dropped)
	r.dropped = dropped{}
	if !r.text {
		o.log(r)
		return
	}
	if ended, complete := o.joined.add(r); complete {
		o.log(ended)
	}
}

// logJoined logs the record that waits for further lines, if there is one.
func (o *output) logJoined() {
	if ended, complete := o.joined.take(); complete {
		o.log(ended)
	}
}

// log logs a record with the time at which its first line arrived. It leaves out empty lines.
func (o *output) log(r record) {
	logger := o.present()
	if (r.message != "" || !r.text) && logger.Enabled(context.Background(), r.level) {
		record := slog.NewRecord(r.at, r.level, r.message, 0)
		record.AddAttrs(r.attrs...)
		_ = logger.Handler().Handle(context.Background(), record) // as slog.Logger does: it also drops the error
	}
	o.mu.Lock()
	o.size -= r.size // the record that is being logged still counts
	o.mu.Unlock()
}

// dropped counts lines that were not logged.
type dropped struct {
	count int
	last  time.Time // when the last one arrived
}

func (o *output) takeDropped() dropped {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.takeDroppedLocked()
}

func (o *output) takeDroppedLocked() dropped {
	d := o.dropped
	o.dropped = dropped{}
	if d.count > 0 {
		o.reported = time.Now()
	}
	return d
}

// logDropped logs the number of dropped lines, if there are any, with the time of the last one.
func (o *output) logDropped(d dropped) {
	logger := o.present()
	if d.count == 0 || !logger.Enabled(context.Background(), slog.LevelWarn) {
		return
	}
	r := slog.NewRecord(d.last, slog.LevelWarn, "the plugin printed more lines than are logged", 0)
	r.AddAttrs(slog.Int("dropped", d.count))
	_ = logger.Handler().Handle(context.Background(), r) // as slog.Logger does: it also drops the error
}

// present returns the logger with the attributes that are known now.
func (o *output) present() *slog.Logger {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.logger
}
