package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// raw is an undecoded event of a stream. An event without data is a comment, which keeps a
// connection alive.
type raw struct {
	kind string
	data []byte
}

// events splits a response into events. It accepts more than the format allows: consecutive events
// without an empty line between them, a last event without an empty line, and a response that is
// one JSON object instead of a stream. The object is an error with a success status, or the
// complete message of a server that does not stream.
type events struct {
	body  *bufio.Reader
	close func() error
	lines *bufio.Scanner // nil before the first read
	raw   raw            // the event read so far
	over  bool
	err   error
}

// maxEvent limits the size of an event, and of a response that is not a stream, in bytes.
const maxEvent = 32 << 20

var errTooLarge = errors.New("the answer is too large")

func newEvents(response *http.Response) *events {
	return &events{body: bufio.NewReader(response.Body), close: response.Body.Close}
}

// next returns the next event. It returns false at the end or after an error, which is in e.err.
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

// line adds a line, which the caller owns, and returns the event that the line completes, if any.
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

// take returns the event read so far and replaces it by next.
func (e *events) take(next raw) raw {
	event := e.raw
	e.raw = next
	return event
}

// complete reports whether the data of an event is complete. The check of the last byte avoids most
// validations.
func complete(data []byte) bool {
	text := bytes.TrimSpace(data)
	return isDone(text) || len(text) > 0 && bytes.IndexByte([]byte("}]"), text[len(text)-1]) >= 0 && json.Valid(text)
}

func isDone(data []byte) bool { return bytes.HasPrefix(data, []byte("[DONE]")) }

// isWhole reports whether the response is one JSON value. No line of an event stream begins like
// one. It returns false after a read error. The next read returns the error.
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
