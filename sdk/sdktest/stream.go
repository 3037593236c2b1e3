package sdktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/toolhost/toolhost/sdk/internal/transport"
	"github.com/toolhost/toolhost/tool"
)

// Call is a completed call.
type Call struct {
	tool.Result                  // the result of the tool, if Err is nil
	Err         *tool.Error      // the infrastructure error, if there is no result
	Statuses    []tool.Status    // the statuses, in order
	Logs        []tool.LogRecord // the log records of the tool, in order
}

// Stream is a call whose arguments arrive in pieces.
type Stream struct {
	host   *Host
	tool   string
	info   transport.Info
	kept   map[string]tool.Content         // artifacts, by handle
	answer func(tool.Question) tool.Answer // nil: the call cannot ask
	cancel context.CancelFunc
	pieces chan piece
	done   chan struct{} // closed when ended is set
	ended  Call

	appended []byte // the text from Append

	mu       sync.Mutex
	statuses []tool.Status
	logs     []tool.LogRecord
	changed  chan struct{} // closed and replaced after each report
}

type piece struct {
	text     []byte
	complete bool
}

// Stream begins a call of a tool, and opens the tool's object at once. Complete or Cancel ends the
// call. Otherwise it is cancelled at the end of the test. The call passes no filters; see Call.
func (h *Host) Stream(name string, options ...Option) *Stream {
	h.t.Helper()
	o := h.options(name, options)
	ctx, cancel := context.WithCancel(o.ctx)
	s := &Stream{
		host: h, tool: name, info: o.info, kept: o.artifacts, answer: o.answer, cancel: cancel,
		pieces: make(chan piece), done: make(chan struct{}), changed: make(chan struct{}),
	}
	h.t.Cleanup(func() { cancel(); <-s.done })
	// If a tool calls t.FailNow, its goroutine ends, and no later code sets an outcome.
	s.ended.Err = tool.Errorf(tool.KindInternal, "the tool ended its goroutine (runtime.Goexit) without an answer")
	go func() { // ends with the call
		defer close(s.done)
		result, err := h.handler.Call(ctx, o.info, (*incoming)(s))
		s.finish(result, err)
	}()
	return s
}

// Append passes the next piece of argument text to the tool. The text may end anywhere. Append
// returns when the tool has the piece, which may be before a preview of it. Only one goroutine at a
// time may call Append and Complete.
func (s *Stream) Append(text string) {
	s.appended = append(s.appended, text...)
	s.send(piece{text: []byte(text)})
}

// Complete passes the complete arguments to the tool, in a form that Host.Call accepts, and
// executes it. They replace the text from Append. If arguments is nil, Complete executes that text.
func (s *Stream) Complete(arguments any) {
	s.host.t.Helper()
	text, err := encode(arguments)
	if err != nil {
		s.cancel()
		s.host.t.Fatalf("encoding the arguments: %v", err)
	}
	if len(text) == 0 {
		text = s.appended
	}
	s.send(piece{text: text, complete: true})
}

// Cancel ends the call's context.
func (s *Stream) Cancel() { s.cancel() }

// Wait blocks until the call ends, and returns its outcome. It fails the test if the result does
// not fit the tool's output schema.
func (s *Stream) Wait() *Call {
	s.host.t.Helper()
	<-s.done
	if s.ended.Err == nil {
		s.host.checkOutput(s.info, &s.ended.Result)
	}
	return &s.ended
}

// WaitStatus blocks until the tool reports a status for which ok returns true, and returns it. It
// fails the test if the call ends first. A test uses it to see the statuses of a preview.
func (s *Stream) WaitStatus(ok func(tool.Status) bool) tool.Status {
	s.host.t.Helper()
	for seen := 0; ; {
		s.mu.Lock()
		statuses, changed := s.statuses[seen:], s.changed
		seen = len(s.statuses)
		s.mu.Unlock()
		for _, status := range statuses {
			if ok(status) {
				return status
			}
		}
		select {
		case <-changed:
			continue
		case <-s.done:
		}
		s.mu.Lock()
		rest := len(s.statuses) - seen
		s.mu.Unlock()
		if rest == 0 {
			s.host.t.Fatalf("tool %q: the call ended without such a status", s.tool)
		}
	}
}

func (s *Stream) send(p piece) {
	select {
	case s.pieces <- p:
	case <-s.done:
	}
}

func (s *Stream) finish(result tool.Result, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = Call{Statuses: s.statuses, Logs: s.logs}
	if err != nil {
		s.ended.Err = tool.AsError(err)
		return
	}
	// A caller gets results that were encoded and decoded.
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err = e.Encode(result); err == nil {
		err = json.Unmarshal(text.Bytes(), &s.ended.Result)
	}
	if err != nil {
		s.ended.Err = tool.Errorf(tool.KindInternal, "encoding the result: %w", err)
	}
}

func encode(arguments any) ([]byte, error) {
	switch a := arguments.(type) {
	case nil:
		return nil, nil
	case string:
		return []byte(a), nil
	case []byte:
		return a, nil
	case json.RawMessage:
		return a, nil
	}
	return json.Marshal(arguments)
}

// incoming is the tool's side of a Stream.
type incoming Stream

// NextArguments waits for the text that the test passed to Append or Complete. The bool is true for
// the text of Complete, which is the last one.
func (in *incoming) NextArguments(ctx context.Context) ([]byte, bool, error) {
	select {
	case p := <-in.pieces:
		return p.text, p.complete, nil
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// Send records an event for the test.
func (in *incoming) Send(ctx context.Context, event tool.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case event.Status != nil:
		in.checkStatus(event.Status)
		in.statuses = append(in.statuses, *event.Status)
	case event.Log != nil:
		in.logs = append(in.logs, *event.Log)
	default:
		return errors.New("an event without a status or log record")
	}
	close(in.changed)
	in.changed = make(chan struct{})
	return nil
}

// checkStatus reports a status that a toolhost would drop.
func (in *incoming) checkStatus(s *tool.Status) {
	var object map[string]json.RawMessage
	if len(s.Parameters) > 0 && json.Unmarshal(s.Parameters, &object) != nil {
		in.host.t.Errorf("tool %q: a status whose parameters are no JSON object: %s", in.tool, s.Parameters)
	}
	if len(s.Result) > 0 && !json.Valid(s.Result) {
		in.host.t.Errorf("tool %q: a status whose result is not JSON: %s", in.tool, s.Result)
	}
}
