package gemini

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// exchange is what the transport observed of one response. The SDK drops the status and the headers
// of a refused request, the reason of a broken connection, and the text of numbers and of function
// arguments: it decodes them into maps. So the transport keeps them here. The body of a response is
// read by the goroutine that reads the SDK's events, so an exchange needs no lock.
type exchange struct {
	status int
	header http.Header
	// problem is the body of a refused request, or an event with an error. Nil means that there was
	// none.
	problem []byte
	// events are the events that the SDK has received and answer has not, in order.
	events []json.RawMessage
	// err is the reason why the body ended early. Nil means that it did not.
	err error
}

type exchangeKey struct{}

// within returns a context whose requests are observed by e.
func (e *exchange) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, e)
}

// take returns the text of the event that the SDK has returned last.
func (e *exchange) take() json.RawMessage {
	if len(e.events) == 0 {
		return nil
	}
	event := e.events[0]
	e.events = e.events[1:]
	return event
}

// transport sends the requests of the SDK. It sets the key, or removes the header if there is none.
// The SDK accepts only events that consist of one line of data. The transport therefore rewrites
// the event stream: it joins lines of data, and it removes comments and all other fields.
type transport struct {
	next http.RoundTripper // nil means http.DefaultTransport
	key  string
}

// largestProblem limits the body of an error, in bytes.
const largestProblem = 1 << 20

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Del("X-Goog-Api-Key")
	if t.key != "" {
		request.Header.Set("X-Goog-Api-Key", t.key)
	}
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	response, err := next.RoundTrip(request)
	seen, ok := request.Context().Value(exchangeKey{}).(*exchange)
	if err != nil || !ok {
		return response, err
	}
	*seen = exchange{status: response.StatusCode, header: response.Header}
	switch {
	case response.StatusCode >= 400:
		seen.problem, _ = io.ReadAll(io.LimitReader(response.Body, largestProblem))
		_ = response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(nil))
	case response.StatusCode < 300:
		response.Body = &eventBody{from: bufio.NewReader(response.Body), closer: response.Body, seen: seen}
	}
	return response, nil
}

// eventBody is the body of a response as the SDK reads it. Each Read returns at most one event. It
// never returns another error than io.EOF, because the SDK would write it to the program's log; the
// exchange has the reason.
type eventBody struct {
	from    *bufio.Reader
	closer  io.Closer
	seen    *exchange
	pending []byte // what Read has not returned yet of the current event
	begun   bool
	ended   bool
}

// Close implements io.Closer.
func (b *eventBody) Close() error {
	_ = b.closer.Close() // the SDK would write the error to the program's log
	return nil
}

// Read implements io.Reader.
func (b *eventBody) Read(p []byte) (int, error) {
	if len(b.pending) == 0 && !b.ended {
		b.pending = b.next()
		b.ended = b.pending == nil
	}
	if len(b.pending) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.pending)
	b.pending = b.pending[n:]
	return n, nil
}

// next returns the next event in the form that the SDK reads, or nil at the end of the body. A
// comment, which proxies send to keep a connection open, becomes an event without content.
func (b *eventBody) next() []byte {
	if !b.begun {
		b.begun = true
		if b.plain() {
			return nil
		}
	}
	var data []byte
	for {
		line, err := b.line()
		if err != nil && err != io.EOF {
			b.seen.err = err
			return nil
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0 && len(data) > 0, err == io.EOF && len(line) == 0:
			return b.event(data, err == io.EOF)
		case len(line) > 0 && len(field) == 0: // a comment
			if len(data) == 0 {
				return b.event([]byte("{}"), false)
			}
		case string(field) == "data":
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
		if len(data) > largestEvent {
			b.seen.err = errTooLarge
			return nil
		}
	}
}

// event returns the text of an event for the SDK, and remembers the event. last says that the body
// ended before the empty line that completes an event.
func (b *eventBody) event(data []byte, last bool) []byte {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		data = []byte("{}") // some gateways end their streams in this way
	}
	var text bytes.Buffer
	text.WriteString("data: ")
	switch err := json.Compact(&text, data); {
	case len(data) == 0 || (err != nil && last):
		return nil // the finish reason tells whether the response is complete
	case err != nil:
		b.seen.err = malformed(err)
		return nil
	}
	event := json.RawMessage(bytes.Clone(text.Bytes()[len("data: "):]))
	if problemIn(event) {
		b.seen.problem, b.seen.err = event, errBrokenOff
		return nil
	}
	b.seen.events = append(b.seen.events, model.CleanJSON(event))
	text.WriteString("\n\n")
	return text.Bytes()
}

// plain reports whether the body is no event stream but a JSON document, and then keeps the
// document as the problem. No line of an event stream begins with a brace or a bracket.
func (b *eventBody) plain() bool {
	first, err := b.from.Peek(1)
	if err != nil || (first[0] != '{' && first[0] != '[') {
		return false // the next read returns the error
	}
	b.seen.problem, _ = io.ReadAll(io.LimitReader(b.from, largestProblem))
	b.seen.err = errBrokenOff
	if !problemIn(b.seen.problem) {
		b.seen.err = errNoStream
	}
	return true
}

// largestEvent limits one event, in bytes. An event can have an image.
const largestEvent = 64 << 20

// line returns the next line without its end.
func (b *eventBody) line() ([]byte, error) {
	var line []byte
	for {
		part, err := b.from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > largestEvent:
			return nil, errTooLarge
		case err == bufio.ErrBufferFull:
			continue
		}
		return bytes.TrimRight(line, "\r\n"), err
	}
}

// isEventStream reports whether the response has the type of an event stream.
func (e *exchange) isEventStream() bool {
	return strings.HasPrefix(e.header.Get("Content-Type"), "text/event-stream")
}
