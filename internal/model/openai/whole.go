package openai

import (
	"bufio"
	"bytes"
	"io"
	"net/http"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// maxWhole bounds an answer that comes in one piece.
const maxWhole = 32 << 20

// decode returns the events of an answer. Some servers answer with one JSON object all the same: with an error, although
// the status says that all is well, or with the whole message, because they do not stream. That object is one event; no
// line of an event stream begins like one.
func decode(response *http.Response) ssestream.Decoder {
	body := bufio.NewReader(response.Body)
	first, err := body.ReadByte()
	for err == nil && bytes.IndexByte([]byte(" \t\r\n"), first) >= 0 {
		first, err = body.ReadByte()
	}
	if err == nil {
		err = body.UnreadByte()
	}
	if err == nil && (first == '{' || first == '[') {
		return &whole{body: body, close: response.Body.Close}
	}
	rest := *response
	rest.Body = struct {
		io.Reader
		io.Closer
	}{body, response.Body}
	return ssestream.NewDecoder(&rest)
}

// whole is an answer in one piece, as a stream of one event.
type whole struct {
	body  io.Reader
	close func() error
	event ssestream.Event
	over  bool
	err   error
}

// Next reads the answer.
func (w *whole) Next() bool {
	if w.over {
		return false
	}
	w.over = true
	w.event.Data, w.err = io.ReadAll(io.LimitReader(w.body, maxWhole))
	return w.err == nil
}

// Event returns what Next read.
func (w *whole) Event() ssestream.Event { return w.event }

// Err returns why it could not be read.
func (w *whole) Err() error { return w.err }

// Close ends the connection.
func (w *whole) Close() error { return w.close() }
