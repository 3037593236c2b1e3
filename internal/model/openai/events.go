package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// raw is an event of a stream before its meaning. Without data it is a comment, with which a server keeps a connection
// alive.
type raw struct {
	kind string
	data []byte
}

// events splits an answer into events. It takes more than the format allows: events that follow each other without an
// empty line between them, a last one that nothing follows, and an answer that is one JSON object instead of a stream: an
// error, although the status says that all is well, or the whole message, because the server does not stream.
type events struct {
	body  *bufio.Reader
	close func() error
	lines *bufio.Scanner // nil: nothing was read yet
	raw   raw            // as read so far
	over  bool
	err   error
}

// maxEvent bounds an event, and an answer in one piece.
const maxEvent = 32 << 20

var errTooLarge = errors.New("the answer is too large")

func newEvents(response *http.Response) *events {
	return &events{body: bufio.NewReader(response.Body), close: response.Body.Close}
}

// next returns the next event; false at the end, which may be an error.
func (e *events) next() (raw, bool) {
	if e.over {
		return raw{}, false
	}
	if e.lines == nil {
		if e.isWhole() {
			return e.readWhole()
		}
		e.lines = bufio.NewScanner(e.body)
		e.lines.Buffer(nil, maxEvent)
	}
	for e.lines.Scan() {
		if event, ok := e.line(e.lines.Bytes()); ok {
			return event, true
		}
		if len(e.raw.data) > maxEvent {
			e.over, e.err = true, errTooLarge
			return raw{}, false
		}
	}
	e.over, e.err = true, e.lines.Err()
	last := e.raw
	return last, complete(last.data)
}

// line takes a line, which is the caller's, and returns the event that it ends, if it ends one.
func (e *events) line(line []byte) (raw, bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case len(line) == 0:
		event := e.take(raw{})
		return event, len(event.data) > 0
	case len(name) == 0:
		return raw{}, true
	case string(name) == "event":
		e.raw.kind = string(value)
	case string(name) == "data" && complete(e.raw.data):
		return e.take(raw{data: append(bytes.Clone(value), '\n')}), true
	case string(name) == "data":
		e.raw.data = append(append(e.raw.data, value...), '\n')
	}
	return raw{}, false
}

// take returns the event as read so far, and goes on with another.
func (e *events) take(next raw) raw {
	event := e.raw
	e.raw = next
	return event
}

// complete reports whether nothing is missing in the data of an event. The look at its end spares most of the reading.
func complete(data []byte) bool {
	text := bytes.TrimSpace(data)
	return isDone(text) || len(text) > 0 && bytes.IndexByte([]byte("}]"), text[len(text)-1]) >= 0 && json.Valid(text)
}

func isDone(data []byte) bool { return bytes.HasPrefix(data, []byte("[DONE]")) }

// isWhole reports whether the answer is one JSON value: no line of an event stream begins like one. An answer that
// cannot be read is none; whoever reads on meets the error.
func (e *events) isWhole() bool {
	for {
		first, err := e.body.ReadByte()
		if err != nil {
			return false
		}
		if bytes.IndexByte([]byte(" \t\r\n"), first) < 0 {
			return e.body.UnreadByte() == nil && (first == '{' || first == '[')
		}
	}
}

func (e *events) readWhole() (raw, bool) {
	e.over = true
	data, err := io.ReadAll(io.LimitReader(e.body, maxEvent+1))
	if err == nil && len(data) > maxEvent {
		err = errTooLarge
	}
	e.err = err
	return raw{data: data}, err == nil
}
