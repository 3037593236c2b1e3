package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Event is an undecoded event of a stream. An event without data is a comment, which keeps a
// connection alive.
type Event struct {
	Kind string // the value of the line "event:", or empty
	Data []byte
}

// Events splits a response into events. It accepts more than the format allows: consecutive events
// without an empty line between them, a last event without an empty line, and a response that is
// one JSON object instead of a stream. The object is an error with a success status, or the
// complete message of a server that does not stream. It is not safe for concurrent use.
type Events struct {
	body  *bufio.Reader
	close func() error
	lines *bufio.Scanner // nil before the first read
	event Event          // the event read so far
	shape Closing        // of its data
	over  bool
	err   error
}

// maxEvent limits the size of an event, and of a response that is not a stream, in bytes.
const maxEvent = 32 << 20

var errTooLarge = fmt.Errorf("an event is larger than %d bytes", maxEvent)

// NewEvents returns the events of a response. The caller closes them.
func NewEvents(response *http.Response) *Events {
	return &Events{body: bufio.NewReader(response.Body), close: response.Body.Close}
}

// Close closes the response. It ends a Next that waits.
func (e *Events) Close() { _ = e.close() }

// Err returns the error that ended the events, or nil.
func (e *Events) Err() error { return e.err }

// Next returns the next event. It returns false at the end or after an error, which Err returns.
func (e *Events) Next() (Event, bool) {
	if e.over {
		return Event{}, false
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
		if len(e.event.Data) > maxEvent {
			e.over, e.err = true, errTooLarge
			return Event{}, false
		}
	}
	if e.over, e.err = true, e.lines.Err(); errors.Is(e.err, bufio.ErrTooLong) {
		e.err = errTooLarge
	}
	whole := e.complete()
	return e.take(Event{}), whole
}

// line adds a line, which the caller owns, and returns the event that the line completes, if any.
func (e *Events) line(line []byte) (Event, bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case len(line) == 0:
		event := e.take(Event{})
		return event, len(event.Data) > 0
	case len(name) == 0, string(name) == "data" && len(e.event.Data) == 0 && bytes.HasPrefix(value, []byte(":")):
		return Event{}, true // a comment, also one that a gateway made data
	case string(name) == "event":
		e.event.Kind = string(value)
	case string(name) == "data" && e.complete():
		event := e.take(Event{})
		e.add(value)
		return event, true
	case string(name) == "data":
		return Event{}, e.add(value)
	}
	return Event{}, false
}

// add adds a line of data to the event. It reports whether the event has no data yet: white space
// before the data only keeps the connection alive.
func (e *Events) add(value []byte) (empty bool) {
	if len(e.event.Data) == 0 {
		value = bytes.TrimLeft(value, blank)
	}
	if len(value) == 0 && len(e.event.Data) == 0 {
		return true
	}
	e.shape.Add(value)
	e.event.Data = append(append(e.event.Data, value...), '\n')
	return false
}

// take returns the event read so far and replaces it by next.
func (e *Events) take(next Event) Event {
	event := e.event
	e.event, e.shape = next, Closing{}
	return event
}

// complete reports whether the data of the event read so far is complete.
func (e *Events) complete() bool {
	return IsDone(e.event.Data) || e.shape.Complete(func() bool { return json.Valid(e.event.Data) })
}

// IsDone reports whether data marks the end of a stream: [DONE].
func IsDone(data []byte) bool { return bytes.HasPrefix(data, []byte("[DONE]")) }

// isWhole reports whether the response is one JSON value. No line of an event stream begins like
// one. It returns false after a read error. The next read returns the error.
func (e *Events) isWhole() bool {
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

func (e *Events) readWhole() (Event, bool) {
	e.over = true
	data, err := io.ReadAll(io.LimitReader(e.body, maxEvent+1))
	if err == nil && len(data) > maxEvent {
		err = errTooLarge
	}
	e.err = err
	return Event{Data: data}, err == nil
}
