package remote

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// tailLines is the number of last lines that Log keeps.
const tailLines = 50

// tellEvery is the least time between two reports of dropped lines.
const tellEvery = time.Second

// LogConfig describes a Log.
type LogConfig struct {
	// Logger gets the lines. Required.
	Logger *slog.Logger
	// Redact returns a line in the form in which it may be shown. Required.
	Redact func(line string, headless, cut bool) string
	// LineBytes bounds a line. Required.
	LineBytes int
	// LinesPerSecond bounds the lines in a second, and at once. Log counts the others. Required.
	LinesPerSecond int
}

// Log is an io.Writer for the lines of a session. Each Write is one line or several. It is safe for
// concurrent use.
type Log struct {
	cfg LogConfig

	mu      sync.Mutex
	tail    []string // the oldest first
	limit   *rate.Limiter
	dropped int       // lines, since they were reported
	told    time.Time // when they were reported last
	closed  bool
}

// NewLog returns a Log.
func NewLog(cfg LogConfig) *Log {
	return &Log{cfg: cfg, limit: rate.NewLimiter(rate.Limit(cfg.LinesPerSecond), cfg.LinesPerSecond)}
}

// Write implements io.Writer. It never fails.
func (l *Log) Write(data []byte) (int, error) {
	for line := range strings.Lines(string(data)) {
		l.line(strings.TrimSuffix(line, "\n"))
	}
	return len(data), nil
}

func (l *Log) line(text string) {
	cut := len(text) > l.cfg.LineBytes
	text = strings.ToValidUTF8(l.cfg.Redact(text[:min(len(text), l.cfg.LineBytes)], false, cut), "\uFFFD")
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || text == "" {
		return
	}
	if len(l.tail) == tailLines {
		l.tail = l.tail[1:]
	}
	l.tail = append(l.tail, text)
	if !l.limit.Allow() {
		l.dropped++
		return
	}
	if time.Since(l.told) >= tellEvery { // a flood lets a line through each time there is room
		l.tellLocked()
	}
	l.cfg.Logger.Info(text)
}

// tellLocked logs the number of lines that were dropped.
func (l *Log) tellLocked() {
	if l.dropped > 0 {
		l.cfg.Logger.Warn("the session had more lines than are logged", "dropped", l.dropped)
		l.dropped, l.told = 0, time.Now()
	}
}

// Last returns the last lines, the oldest first.
func (l *Log) Last() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.tail...)
}

// Close drops later lines.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.tellLocked()
	l.closed = true
}
