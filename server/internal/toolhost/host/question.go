package host

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// maxOpenBytes bounds the open questions of a call together, because its event log cannot discard
// them. It is half of what the log stores.
const maxOpenBytes = 512 << 10

// questions are what the tool of a call has asked. All methods are safe for concurrent use.
//
// A question is open until it leaves the map. Whatever happens first takes it out: an answer, its
// expiry, or the end of the attempt. So at most one answer reaches the plugin, and the deadline of
// the call resumes exactly once for each question.
type questions struct {
	call *call

	mu    sync.Mutex
	asked uint32 // in all attempts; also the id of the latest question
	bytes int    // of the open questions
	open  map[uint32]*openQuestion
}

// openQuestion is a question that has no answer yet.
type openQuestion struct {
	question tool.Question
	number   uint32 // the plugin's
	wire     pluginconn.Call
	schema   *arguments.Schema // of the answer of a person
	size     int
	expiry   *time.Timer // nil until the question is published
}

// asking is what the tool of a call may ask the caller, and what it has asked.
type asking struct{ call *call }

// permitted returns what the operator permits the tool to ask.
func (a asking) permitted() []tool.QuestionKind {
	if a.call.settings.Asks == nil || a.call.kind != ToolCall {
		return nil
	}
	return a.call.settings.Asks(a.call.plugin())
}

// kinds returns what the tool is permitted to ask and the caller answers.
func (a asking) kinds() []tool.QuestionKind {
	var both []tool.QuestionKind
	for _, kind := range a.permitted() {
		if slices.Contains(a.call.request.Answers, kind) {
			both = append(both, kind)
		}
	}
	return both
}

// allowPause lets the deadline pause while questions are open, if the tool may ask any.
func (a asking) allowPause() {
	if len(a.kinds()) > 0 {
		a.call.timer.AllowPause(a.call.settings.Questions.MaxWait)
	}
}

// ask handles a question of the plugin. The plugin gets an error at once if it must not ask the
// question. An error of the connection is not handled here: the next event reports it.
func (a *attempt) ask(q *tool.Question) {
	c, number := a.call, q.ID
	if refused := a.open(*q); refused != nil {
		c.observed.asked(a.supervisor.Name(), q.Kind(), AskRefused)
		c.logger(c.services.log.calls).Debug("a question of a tool is refused", "kind", q.Kind(), "error", refused)
		_ = a.wire.Answer(c.ctx(), number, tool.Answer{Err: refused})
	}
}

// open checks a question, records it and publishes it.
func (a *attempt) open(q tool.Question) *tool.Error {
	c := a.call
	open := &openQuestion{number: q.ID, wire: a.wire, size: questionSize(&q)}
	if err := (asking{c}).check(&q, open.size); err != nil {
		return err
	}
	if err := open.check(&q); err != nil {
		return err
	}
	// A question may make a person act. So the id of the call must not execute again after a restart,
	// even if the tool promises to have no side effects.
	if err := c.entry.Begin(c.ctx(), c.request.Tool, c.plugin(), c.arrived, settleArguments(c), idQuota(c)); err != nil {
		if c.ctx().Err() != nil {
			return c.unsent(err)
		}
		return ledger.Refusal(err)
	}
	q.CallID, q.Plugin, q.Tool = c.request.ID, a.supervisor.Name(), c.request.Tool
	open.question = q
	return asking{c}.questions().add(open)
}

// questions returns the questions of the call.
func (a asking) questions() *questions {
	if a.call.questions.Load() == nil {
		a.call.questions.CompareAndSwap(nil, &questions{call: a.call, open: map[uint32]*openQuestion{}})
	}
	return a.call.questions.Load()
}

// check returns why the tool must not ask a question of a size.
func (a asking) check(q *tool.Question, size int) *tool.Error {
	c := a.call
	kind := q.Kind()
	switch {
	case kind == "":
		return tool.Errorf(tool.KindInvalidArgument, "the question asks neither a person nor a model, nor for folders")
	case !c.executed():
		return tool.Errorf(tool.KindUnsupported, "a preview cannot ask; ask when the arguments are complete")
	case !slices.Contains(a.permitted(), kind):
		return tool.Errorf(tool.KindUnsupported, "the operator does not permit the plugin %q to ask %s; `plugin.%s.ask` in toolhost.yaml permits it", c.plugin(), whom(kind), c.plugin())
	case !slices.Contains(c.request.Answers, kind):
		return tool.Errorf(tool.KindUnsupported, "the caller of the tool cannot ask %s", whom(kind))
	case size > c.settings.Questions.Bytes:
		return tool.Errorf(tool.KindInvalidArgument, "the question has %d bytes; it may have %d", size, c.settings.Questions.Bytes)
	default:
		return nil
	}
}

// add opens a question and publishes it.
func (s *questions) add(o *openQuestion) *tool.Error {
	c := s.call
	limits, wait := &c.settings.Questions, c.settings.Questions.MaxWait
	if wanted := o.wanted(); wanted > 0 {
		wait = min(wait, wanted)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case int(s.asked) >= limits.PerCall:
		return tool.Errorf(tool.KindRateLimited, "the tool has asked %d questions in this call, and may not ask more", s.asked)
	case s.bytes+o.size > maxOpenBytes:
		return tool.Errorf(tool.KindRateLimited, "the open questions of the call have %d bytes together; this one would exceed %d", s.bytes, maxOpenBytes)
	}
	if wait = min(wait, c.timer.Spare()); wait <= 0 {
		return tool.Errorf(tool.KindTimeout, "the questions of the call have been open for %v in all, which is as long as they may", limits.MaxWait)
	}
	s.asked++
	s.bytes += o.size
	id := s.asked
	o.question.ID, o.question.Expires = id, time.Now().Add(wait)
	s.open[id] = o
	c.timer.Pause()
	o.expiry = time.AfterFunc(wait, func() { s.expire(id) }) // take stops it
	c.events.Publish(tool.Event{Question: &o.question})
	return nil
}

// wanted returns how long the tool wants to wait; 0 means that it does not say.
func (o *openQuestion) wanted() time.Duration {
	switch {
	case o.question.Person != nil:
		return o.question.Person.Timeout
	case o.question.Model != nil:
		return o.question.Model.Timeout
	default:
		return 0
	}
}

// take closes a question and publishes that. It returns nil if the question is not open.
func (s *questions) take(id uint32, reason tool.QuestionEnd) *openQuestion {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.open[id]
	if o == nil {
		return nil
	}
	s.closeLocked(o, reason)
	return o
}

func (s *questions) closeLocked(o *openQuestion, reason tool.QuestionEnd) {
	id := o.question.ID
	delete(s.open, id)
	s.bytes -= o.size
	o.expiry.Stop()
	s.call.timer.Resume()
	s.call.events.Publish(tool.Event{Closed: &tool.QuestionClosed{ID: id, Reason: reason}})
}

// expire closes a question whose time is over, and tells the plugin.
func (s *questions) expire(id uint32) {
	o := s.take(id, tool.QuestionExpired)
	if o == nil {
		return
	}
	s.call.observed.asked(o.question.Plugin, o.question.Kind(), AskExpired)
	s.call.services.spawn(func() { // ends when the connection has room, or with the call
		_ = o.wire.Answer(s.call.ctx(), o.number, tool.Answer{Err: tool.Errorf(tool.KindTimeout, "no answer came in time")})
	})
}

// abandon closes all open questions of the call without an answer. It reports whether there
// were any.
func (a asking) abandon() bool {
	s := a.call.questions.Load()
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	had := len(s.open) > 0
	for _, o := range s.open {
		s.closeLocked(o, tool.QuestionAbandoned)
		a.call.observed.asked(o.question.Plugin, o.question.Kind(), AskAbandoned)
	}
	return had
}

// AnswerQuestion answers an open question of a call, and returns when the answer is on its way to the
// plugin. Errors: not_found if the question or the call is not open, and invalid_argument if the
// answer does not fit the question, which stays open.
func (h *Host) AnswerQuestion(ctx context.Context, key tool.CallKey, question uint32, answer tool.Answer) error {
	if err := checkKey(key); err != nil {
		return err
	}
	e := h.ledger.Find(keyOf(key))
	if e == nil || !authz.FromContext(ctx).InScope(e.Call.request.Tool) {
		_, err := h.eventsOf(ctx, key, 0)
		if err == nil { // the call has ended
			err = notOpen(key.ID, question)
		}
		return err
	}
	s := e.Call.questions.Load()
	if s == nil {
		return notOpen(key.ID, question)
	}
	o := s.find(question)
	if o == nil {
		return notOpen(key.ID, question)
	}
	answer, refused := o.accept(answer, e.Call.settings.Questions.Bytes)
	if refused != nil {
		refused.CallID = key.ID
		return refused
	}
	if s.take(question, tool.QuestionAnswered) == nil {
		return notOpen(key.ID, question)
	}
	e.Call.observed.asked(o.question.Plugin, o.question.Kind(), outcomeOfAnswer(&answer))
	// From here on the question is closed, so the answer must reach the plugin even if this caller
	// leaves. Only the end of the call prevents it.
	if err := o.wire.Answer(e.Call.ctx(), o.number, answer); err != nil {
		return notOpen(key.ID, question)
	}
	return nil
}

func (s *questions) find(id uint32) *openQuestion {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

func notOpen(callID string, question uint32) *tool.Error {
	err := tool.Errorf(tool.KindNotFound, "the call %q has no open question %d: it was answered, it expired, or the call has ended", callID, question)
	err.CallID = callID
	return err
}
