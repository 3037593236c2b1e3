// Package logging writes the logs of toolhost and agentd: one record for each fact, as text for
// people or as JSON for machines.
//
// It owns the form of a record, the order of its fields, the levels of subsystems, the limit for
// repeated records, and the goroutine that writes. It does not decide what is logged. Other
// packages log with log/slog and do not import this package, except to open a log.
package logging

import (
	"cmp"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// Config says where and how a Log writes.
type Config struct {
	// To receives the records, each with one Write. Required.
	To io.Writer
	// JSON selects the form for machines; false: text for people.
	JSON bool
	// Color makes the text colored.
	Color bool
	// Levels are the first levels. SetLevels replaces them.
	Levels loglevel.Levels
	// Redact returns a text without secrets. It must not block. Nil: nothing is secret.
	Redact func(string) string
	// MaxWaiting bounds the bytes of the records that wait for To; 0: 1 MiB.
	MaxWaiting int
}

// Log is a log with its writer. All methods are safe for concurrent use.
//
// The goroutines that log must not wait for the log: one of them may be the reader of a stream of
// all calls of a plugin, and standard error may be a pipe that no process reads. So records wait in
// a bounded queue, and a goroutine of the Log writes them. If the queue is full, the Log drops
// records and writes their number later. The invariant: no method of a Logger blocks on To.
type Log struct {
	cfg     Config
	levels  atomic.Pointer[loglevel.Levels]
	repeats repeats

	wake    chan struct{} // of capacity 1: there is something to write
	stopped chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	queue   [][]byte
	waiting int // bytes in the queue
	dropped int // records since the last one that was queued
	closed  bool
	// lost counts the dropped records. It begins again if To took records in the meantime, and the
	// latest loss was lossRemembered ago.
	lost   int
	lostAt time.Time // the latest
}

// lossRemembered is how long Lost reports a loss. A probe that looks every five minutes sees it,
// and a loss of last week is not reported as one of now.
const lossRemembered = 10 * time.Minute

// Open opens a log and starts its goroutine. The caller must call Close.
func Open(cfg Config) *Log {
	cfg.MaxWaiting = cmp.Or(cfg.MaxWaiting, 1<<20)
	if cfg.Redact == nil {
		cfg.Redact = func(text string) string { return text }
	}
	l := &Log{cfg: cfg, wake: make(chan struct{}, 1), stopped: make(chan struct{})}
	l.levels.Store(&cfg.Levels)
	go l.run() // ends with Close, which waits for it
	return l
}

// Logger returns the logger of a subsystem. Its level is that of the subsystem, at each moment.
func (l *Log) Logger(subsystem string) *slog.Logger {
	return slog.New(&handler{log: l, subsystem: subsystem})
}

// SetLevels replaces the levels. Every record that is logged afterwards follows the new ones.
func (l *Log) SetLevels(levels loglevel.Levels) { l.levels.Store(&levels) }

// closeTimeout bounds how long Close waits for a writer that does not take the last records.
const closeTimeout = 2 * time.Second

// Close writes the records that wait, and waits for that for at most closeTimeout. Later records
// are dropped.
func (l *Log) Close() error {
	l.report(time.Now())
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-l.stopped:
	case <-timer.C: // the process ends, and its last records with it
	}
	return nil
}

// put queues the bytes of a record.
func (l *Log) put(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if l.waiting+len(line) > l.cfg.MaxWaiting {
		now := time.Now()
		if l.dropped == 0 && now.Sub(l.lostAt) > lossRemembered {
			l.lost = 0
		}
		l.dropped, l.lost, l.lostAt = l.dropped+1, l.lost+1, now
		return
	}
	l.queue = append(l.queue, line)
	l.waiting += len(line)
	l.signal()
}

// Lost returns how many records the Log dropped because To took them too slowly. It is 0 if To
// takes records, and the latest loss was lossRemembered ago.
func (l *Log) Lost() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped == 0 && time.Since(l.lostAt) > lossRemembered {
		return 0
	}
	return l.lost
}

func (l *Log) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run writes the queue until the Log is closed and the queue is empty.
func (l *Log) run() {
	defer close(l.stopped)
	overdue := time.NewTicker(reportAfter)
	defer overdue.Stop()
	for {
		select {
		case <-l.wake:
		case now := <-overdue.C:
			l.report(now)
		}
		l.mu.Lock()
		batch, closed, dropped := l.queue, l.closed, l.dropped
		l.queue, l.dropped = nil, 0
		l.mu.Unlock()
		for _, line := range batch {
			_, _ = l.cfg.To.Write(line) // there is no other place for the error
			l.mu.Lock()
			l.waiting -= len(line) // a record that is being written still counts
			l.mu.Unlock()
		}
		if dropped > 0 {
			_, _ = l.cfg.To.Write(l.encode(&entry{
				time: time.Now(), level: slog.LevelWarn, subsystem: loglevel.Server,
				message: "records of the log are missing here: standard error took them too slowly",
				fields:  []slog.Attr{slog.Int("dropped", dropped)},
			}))
		}
		if closed {
			return
		}
	}
}

// report writes how many equal records were left out.
func (l *Log) report(now time.Time) {
	for _, e := range l.repeats.overdue(now) {
		l.emit(e)
	}
}

// emit writes an entry that passed the levels and the limit for repeated records.
func (l *Log) emit(e entry) {
	e.redact(l.cfg.Redact)
	l.put(l.encode(&e))
}

func (l *Log) encode(e *entry) []byte {
	if l.cfg.JSON {
		return cli.EscapeJSON(e.json())
	}
	return e.text(cli.Screen{Color: l.cfg.Color})
}
