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
	// cutMark replaces the middle of a line.
	cutMark = "…[cut]…"
	// endShare is the part of a cut line that its end gets, as a divisor. Programs put the topic of
	// a line first, and often the reason of a failure last.
	endShare = 4
)

// lines is an io.Writer that cuts a byte stream into lines. Of a line that is longer than its
// limit, it keeps the beginning and the end, so that memory is bounded. It is safe for concurrent
// use.
type lines struct {
	emit   func(line string) // called with valid UTF-8 without the line end, and with the lock held
	redact redactFunc        // nil: lines are passed on unchanged
	limit  int               // bound of a line, in bytes; 0: maxLine

	mu   sync.Mutex
	buf  []byte // the first bytes of the line, at most limit
	over []byte // what follows buf, or the last bytes of it, at most twice limit
}

// redactFunc is Config.Redact.
type redactFunc = func(line string, headless, cut bool) string

// Write never fails, and does not keep data.
func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(data)
	for {
		line, rest, found := bytes.Cut(data, []byte{'\n'})
		room := min(l.most()-len(l.buf), len(line))
		l.buf = append(l.buf, line[:room]...)
		l.keepEnd(line[room:])
		if !found {
			return n, nil
		}
		l.end(false)
		data = rest
	}
}

// Flush passes on a last line that has no line end. Its end may be missing, because the process may
// have been killed while it wrote the line.
func (l *lines) Flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buf) > 0 {
		l.end(true)
	}
}

func (l *lines) most() int { return cmp.Or(l.limit, maxLine) }

// keepEnd adds bytes to over, which then holds at least the last most bytes of the line.
func (l *lines) keepEnd(line []byte) {
	most := l.most()
	line = line[max(0, len(line)-most):]
	if len(l.over)+len(line) > 2*most {
		l.over = append(l.over[:0], l.over[len(l.over)-most:]...)
	}
	l.over = append(l.over, line...)
}

// end passes on the line. cut says that its end may be missing.
func (l *lines) end(cut bool) {
	if len(l.over) == 0 {
		l.emit(l.cleaned(strings.TrimSuffix(string(l.buf), "\r"), false, cut))
	} else {
		end := l.most() / endShare
		begin := l.most() - end
		rest := strings.TrimSuffix(string(l.buf[begin:])+string(l.over), "\r")
		rest = rest[max(0, len(rest)-end):]
		l.emit(l.cleaned(string(l.buf[:begin]), false, true) + cutMark + l.cleaned(rest, true, cut))
	}
	l.buf, l.over = l.buf[:0], l.over[:0]
}

// cleaned returns a line, or a part of one, redacted and as valid UTF-8.
func (l *lines) cleaned(text string, headless, cut bool) string {
	if l.redact != nil {
		text = l.redact(text, headless, cut)
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
