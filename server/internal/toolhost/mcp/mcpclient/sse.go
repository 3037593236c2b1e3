package mcpclient

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// event is one event of a stream of server-sent events. Any field may be empty.
type event struct {
	name, id string
	data     []byte
	retry    time.Duration
}

// errEventTooLarge says that an event has more bytes than a message may have.
var errEventTooLarge = errors.New("an event of the stream is too large")

// events reads a stream of server-sent events, in bounded memory.
type events struct {
	reader *bufio.Reader
	most   int // bytes of an event
}

func newEvents(r io.Reader, most int) *events {
	return &events{reader: bufio.NewReaderSize(r, 16<<10), most: most}
}

// next returns the next event. An event that the stream does not end with an empty line is lost, as
// the format demands.
func (e *events) next() (event, error) {
	var ev event
	size, some := 0, false
	for {
		line, err := e.line(e.most - size)
		if err != nil {
			return event{}, err
		}
		size += len(line) + 1
		if len(line) == 0 {
			if some {
				return ev, nil
			}
			size = 0
			continue
		}
		some = true
		ev.take(line)
	}
}

// line returns a line without its end, which is LF or CR LF. most bounds its bytes.
func (e *events) line(most int) ([]byte, error) {
	var text []byte
	for {
		piece, err := e.reader.ReadSlice('\n')
		if len(text)+len(piece) > most {
			return nil, errEventTooLarge
		}
		text = append(text, piece...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(text[:len(text)-1], []byte{'\r'}), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// minRetryPause and maxRetryPause bound the pause that a server demands before the stream is opened
// again.
const (
	minRetryPause = 50 * time.Millisecond
	maxRetryPause = 30 * time.Second
)

// take adds a line to the event. A line that begins with a colon is a comment.
func (ev *event) take(line []byte) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "event":
		ev.name = string(value)
	case "data":
		if ev.data != nil {
			ev.data = append(ev.data, '\n')
		}
		ev.data = append(ev.data, value...)
	case "id":
		if isVisible(string(value)) {
			ev.id = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			ev.retry = min(max(time.Duration(ms)*time.Millisecond, minRetryPause), maxRetryPause)
		}
	}
}

// frame returns a message as an event.
func frame(message []byte) []byte {
	out := make([]byte, 0, len(message)+len("data: \n\n"))
	out = append(out, "data: "...)
	out = append(out, message...)
	return append(out, "\n\n"...)
}
