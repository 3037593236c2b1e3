package process

import (
	"log/slog"
	"strings"
	"time"
)

// multiline joins the lines of a stack trace, and of other text whose further lines are indented,
// to one record. Without it, a traceback of ten lines would be ten records, with the lines of other
// processes between them.
//
// It decides by the lines alone, because a process can write them with any pauses. A record ends
// with the first line that does not continue it. Because the process may not write another line,
// the owner calls take when no line has come for a while. The zero value is empty.
type multiline struct {
	open  bool
	last  record // its message has all lines so far
	kind  trace
	limit int // of the message, in bytes; a longer trace becomes several records
}

// trace is the kind of text that a record has.
type trace int

const (
	noTrace     trace = iota
	goTrace           // everything up to the end of the process belongs to it
	pythonTrace       // the indented lines, and one more
	pythonEnd         // the exception was named; another one may follow
)

// add adds a record. If it does not continue the open record, add returns that one, and complete is
// true.
func (m *multiline) add(r record) (ended record, complete bool) {
	if m.open && len(m.last.message)+1+len(r.message) <= m.limit && m.continues(&r) {
		m.last.message += "\n" + r.message
		m.last.level = max(m.last.level, r.level)
		m.last.size += r.size
		return record{}, false
	}
	ended, complete = m.take()
	m.open, m.last, m.kind = true, r, kindOf(r.message)
	if m.kind != noTrace {
		m.last.level = slog.LevelError
	}
	return ended, complete
}

// take returns the open record and leaves none.
func (m *multiline) take() (ended record, complete bool) {
	ended, complete = m.last, m.open
	ended.message = strings.TrimRight(ended.message, "\r\n")
	m.open, m.last = false, record{}
	return ended, complete
}

// kindOf returns the kind of trace that a line begins.
func kindOf(line string) trace {
	switch {
	case beginsCrash(line):
		return goTrace
	case strings.HasPrefix(line, tracebackLine):
		return pythonTrace
	}
	return noTrace
}

const tracebackLine = "Traceback (most recent call last):"

// continues reports whether a line continues the open record.
func (m *multiline) continues(r *record) bool {
	line := r.message
	indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
	if indented && strings.HasPrefix(strings.TrimLeft(line, " \t"), "at ") { // a stack of Node or Java
		r.level = slog.LevelError
	}
	switch {
	case m.kind == goTrace, indented, strings.TrimSpace(line) == "":
		return true
	case m.kind == pythonTrace:
		m.kind = pythonEnd
		return true
	case m.kind == pythonEnd && strings.HasPrefix(line, tracebackLine):
		m.kind = pythonTrace
		return true
	case m.kind == pythonEnd:
		return strings.HasPrefix(line, "During handling of the above exception") || strings.HasPrefix(line, "The above exception was the direct cause")
	}
	return false
}

// holdFor is how long a record of text waits for further lines. A process writes the lines of a
// stack trace within microseconds of each other.
const holdFor = 50 * time.Millisecond
