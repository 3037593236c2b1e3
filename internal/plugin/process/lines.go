package process

import (
	"bytes"
	"cmp"
	"strings"
	"sync"
)

const (
	// maxLine is the default bound of a kept line, in bytes. Log records that a person reads are
	// shorter.
	maxLine = 8 << 10
	cutMark = "…[cut]"
)

// lines is an io.Writer that cuts a byte stream into lines. It cuts and marks a line that is longer
// than its limit and skips the rest, so that memory is bounded. It is safe for concurrent use.
type lines struct {
	emit   func(line string)                  // called with valid UTF-8 without the line end, and with the lock held
	redact func(line string, cut bool) string // nil: lines are passed on unchanged
	limit  int                                // bound of a line, in bytes; 0: maxLine

	mu  sync.Mutex
	buf []byte
	cut bool
}

// Write never fails, and does not keep data.
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

// Flush passes on a last line that has no line end.
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
