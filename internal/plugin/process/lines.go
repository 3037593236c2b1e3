package process

import (
	"bytes"
	"cmp"
	"strings"
	"sync"
)

const (
	// maxLine is how much of a line is kept, in bytes, unless something else is said: enough for any log record that a
	// person reads.
	maxLine = 8 << 10
	cutMark = "…[cut]"
)

// lines is an io.Writer that cuts a byte stream into lines. A line that is longer than maxLine is cut and marked, and
// the rest of it skipped, so that memory is bounded whatever is written. It may be used from any goroutine.
type lines struct {
	emit   func(line string)                  // is given valid UTF-8 without the line's end, with the lock held
	redact func(line string, cut bool) string // nil: emit is given lines as they are
	limit  int                                // of a line, in bytes; 0: maxLine

	mu  sync.Mutex
	buf []byte
	cut bool
}

// Write never fails and keeps nothing of data.
func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(data)
	for {
		line, rest, found := bytes.Cut(data, []byte{'\n'})
		room := cmp.Or(l.limit, maxLine) - len(l.buf)
		l.cut = l.cut || len(line) > room
		l.buf = append(l.buf, line[:min(room, len(line))]...)
		if !found {
			return n, nil
		}
		l.end()
		data = rest
	}
}

// Flush hands on a last line that has no end.
func (l *lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buf) > 0 {
		l.end()
	}
}

func (l *lines) end() {
	text := strings.TrimSuffix(string(l.buf), "\r")
	if l.redact != nil {
		text = l.redact(text, l.cut)
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if l.cut {
		text += cutMark
	}
	l.buf, l.cut = l.buf[:0], false
	l.emit(text)
}
