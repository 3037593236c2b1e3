// Package question has what the tool of a call asks the caller: which questions are open, and which
// answers fit them. It does not decide which plugins may ask.
package question

import (
	"context"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/deadline"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/eventlog"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// MaxOpenBytes bounds the open questions of a call together, because its event log cannot discard
// them. It is half of what the log stores.
const MaxOpenBytes = 512 << 10

// Limits bound the questions of tools. The zero value has all defaults.
type Limits struct {
	PerCall int // questions of one call; 0: 16
	Bytes   int // of one question and of one answer; 0: 256 KiB
	// MaxWait bounds how long a question is open, and how long all questions of a call together pause
	// its deadline; 0: 1 h.
	MaxWait time.Duration
}

// Outcome says how a question of a tool ended.
type Outcome string

// How a question of a tool ends.
const (
	Refused   Outcome = "refused"   // it was not permitted, malformed, or beyond a bound
	Answered  Outcome = "answered"  // with what the tool wanted
	Declined  Outcome = "declined"  // by a person
	Dismissed Outcome = "dismissed" // by a person
	Failed    Outcome = "failed"    // the caller answered with an error
	Expired   Outcome = "expired"
	Abandoned Outcome = "abandoned" // the call ended first
)

// outcomeOf returns how a question with an answer ended.
func outcomeOf(a *tool.Answer) Outcome {
	switch {
	case a.Err != nil:
		return Failed
	case a.Person != nil && a.Person.Action == tool.PersonDecline:
		return Declined
	case a.Person != nil && a.Person.Action == tool.PersonDismiss:
		return Dismissed
	default:
		return Answered
	}
}

// Call is what the questions of a call use of it. The fields do not change.
type Call struct {
	Context func() context.Context // ends with the call
	Timer   *deadline.Timer
	Events  *eventlog.Call
	Limits  *Limits
	Ended   func(plugin string, kind tool.QuestionKind, outcome Outcome)
	Spawn   func(f func()) bool // runs f in a goroutine of the host
}

// Questions are what the tool of a call has asked. All methods are safe for concurrent use.
//
// A question is open until it leaves the map. Whatever happens first takes it out: an answer, its
// expiry, or the end of the attempt. So at most one answer reaches the plugin, and the deadline of
// the call resumes exactly once for each question.
type Questions struct {
	call Call

	mu    sync.Mutex
	asked uint32 // in all attempts; also the id of the latest question
	bytes int    // of the open questions
	open  map[uint32]*Open
}

// New returns the questions of a call that has asked nothing.
func New(call Call) *Questions { return &Questions{call: call, open: map[uint32]*Open{}} }

// Open is a question that has no answer yet.
type Open struct {
	Question tool.Question

	number uint32            // the plugin's
	wire   pluginconn.Call   // on which the plugin waits for the answer; nil: see NewOpen
	schema *arguments.Schema // of the answer of a person
	size   int
	expiry *time.Timer // nil until the question is published
}

// NewOpen returns a question that is not published. The plugin waits on wire for the answer. A nil
// wire is for a question that is only checked, together with its answer: it must not be added to
// Questions.
func NewOpen(q tool.Question, wire pluginconn.Call) *Open {
	return &Open{Question: q, number: q.ID, wire: wire, size: Size(&q)}
}

// Add opens a question and publishes it.
func (s *Questions) Add(o *Open) *tool.Error {
	c := s.call
	limits, wait := c.Limits, c.Limits.MaxWait
	if wanted := o.Wanted(); wanted > 0 {
		wait = min(wait, wanted)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case int(s.asked) >= limits.PerCall:
		return tool.Errorf(tool.KindRateLimited, "the tool has asked %d questions in this call, and may not ask more", s.asked)
	case s.bytes+o.size > MaxOpenBytes:
		return tool.Errorf(tool.KindRateLimited, "the open questions of the call have %d bytes together; this one would exceed %d", s.bytes, MaxOpenBytes)
	}
	if wait = min(wait, c.Timer.Spare()); wait <= 0 {
		return tool.Errorf(tool.KindTimeout, "the questions of the call have been open for %v in all, which is as long as they may", limits.MaxWait)
	}
	s.asked++
	s.bytes += o.size
	id := s.asked
	o.Question.ID, o.Question.Expires = id, time.Now().Add(wait)
	s.open[id] = o
	c.Timer.Pause()
	o.expiry = time.AfterFunc(wait, func() { s.expire(id) }) // take stops it
	c.Events.Publish(tool.Event{Question: &o.Question})
	return nil
}

// Wanted returns how long the tool wants to wait; 0 means that it does not say.
func (o *Open) Wanted() time.Duration {
	switch {
	case o.Question.Person != nil:
		return o.Question.Person.Timeout
	case o.Question.Model != nil:
		return o.Question.Model.Timeout
	default:
		return 0
	}
}

// take closes a question and publishes that. It returns nil if the question is not open.
func (s *Questions) take(id uint32, reason tool.QuestionEnd) *Open {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[id]
	if o == nil {
		return nil
	}
	s.closeLocked(o, reason)
	return o
}

func (s *Questions) closeLocked(o *Open, reason tool.QuestionEnd) {
	id := o.Question.ID
	delete(s.open, id)
	s.bytes -= o.size
	o.expiry.Stop()
	s.call.Timer.Resume()
	s.call.Events.Publish(tool.Event{Closed: &tool.QuestionClosed{ID: id, Reason: reason}})
}

// expire closes a question whose time is over, and tells the plugin.
func (s *Questions) expire(id uint32) {
	o := s.take(id, tool.QuestionExpired)
	if o == nil {
		return
	}
	s.call.Ended(o.Question.Plugin, o.Question.Kind(), Expired)
	s.call.Spawn(func() { // ends when the connection has room, or with the call
		_ = o.wire.Answer(s.call.Context(), o.number, tool.Answer{Err: tool.Errorf(tool.KindTimeout, "no answer came in time")})
	})
}

// Abandon closes all open questions of the call without an answer. It reports whether there
// were any.
func (s *Questions) Abandon() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := len(s.open) > 0
	for _, o := range s.open {
		s.closeLocked(o, tool.QuestionAbandoned)
		s.call.Ended(o.Question.Plugin, o.Question.Kind(), Abandoned)
	}
	return had
}

// Answer passes an answer to the plugin. Errors: those of Host.AnswerQuestion.
func (s *Questions) Answer(callID string, id uint32, answer tool.Answer) error {
	o := s.find(id)
	if o == nil {
		return NotOpen(callID, id)
	}
	answer, refused := o.Accept(answer, s.call.Limits.Bytes)
	if refused != nil {
		refused.CallID = callID
		return refused
	}
	if s.take(id, tool.QuestionAnswered) == nil {
		return NotOpen(callID, id)
	}
	s.call.Ended(o.Question.Plugin, o.Question.Kind(), outcomeOf(&answer))
	// From here on the question is closed, so the answer must reach the plugin even if this caller
	// leaves. Only the end of the call prevents it.
	if err := o.wire.Answer(s.call.Context(), o.number, answer); err != nil {
		return NotOpen(callID, id)
	}
	return nil
}

func (s *Questions) find(id uint32) *Open {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// NotOpen returns the error for a question that has been closed, or never was asked.
func NotOpen(callID string, question uint32) *tool.Error {
	err := tool.Errorf(tool.KindNotFound, "the call %q has no open question %d: it was answered, it expired, or the call has ended", callID, question)
	err.CallID = callID
	return err
}
