package host

import (
	"context"
	"slices"

	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/tool"
)

// permittedKinds returns the kinds of questions that the operator permits the tool to ask.
func (c *call) permittedKinds() []tool.QuestionKind {
	if c.settings.Asks == nil || c.kind != ToolCall {
		return nil
	}
	return c.settings.Asks(c.plugin())
}

// askableKinds returns the permitted kinds that the caller answers.
func (c *call) askableKinds() []tool.QuestionKind {
	var both []tool.QuestionKind
	for _, kind := range c.permittedKinds() {
		if slices.Contains(c.request.Answers, kind) {
			both = append(both, kind)
		}
	}
	return both
}

// allowPause lets the deadline pause while questions are open, if the tool may ask any.
func (c *call) allowPause() {
	if len(c.askableKinds()) > 0 {
		c.timer.AllowPause(c.settings.Questions.MaxWait)
	}
}

// ask handles a question of the plugin. The plugin gets an error at once if it must not ask the
// question. An error of the connection is not handled here: the next event reports it.
func (a *attempt) ask(q *tool.Question) {
	c, number := a.call, q.ID
	if refused := a.open(*q); refused != nil {
		c.observed.asked(a.supervisor.Name(), q.Kind(), question.Refused)
		c.logger(c.services.log.calls).Debug("a question of a tool is refused", "kind", q.Kind(), "error", refused)
		_ = a.wire.Answer(c.ctx(), number, tool.Answer{Err: refused})
	}
}

// open checks a question, records it and publishes it.
func (a *attempt) open(q tool.Question) *tool.Error {
	c := a.call
	open := question.NewOpen(q, a.wire)
	if err := c.checkQuestion(&q); err != nil {
		return err
	}
	if err := open.Check(&q); err != nil {
		return err
	}
	// A question may make a person act. So the id of the call must not execute again after a restart,
	// even if the tool promises to have no side effects.
	if err := c.begin(); err != nil {
		if c.ctx().Err() != nil {
			return c.unsent(err)
		}
		return c.entry.Refusal(err)
	}
	q.CallID, q.Plugin, q.Tool = c.request.ID, a.supervisor.Name(), c.request.Tool
	open.Question = q
	return c.ensureQuestions().Add(open)
}

// ensureQuestions returns the questions of the call, of which there are none before the first one.
func (c *call) ensureQuestions() *question.Questions {
	if c.questions.Load() == nil {
		c.questions.CompareAndSwap(nil, question.New(question.Call{
			Context: c.ctx, Timer: &c.timer, Events: &c.events, Limits: &c.settings.Questions, Ended: c.observed.asked, Spawn: c.services.spawn,
		}))
	}
	return c.questions.Load()
}

// abandonQuestions closes all open questions of the call without an answer. It reports whether
// there were any.
func (c *call) abandonQuestions() bool {
	asked := c.questions.Load()
	return asked != nil && asked.Abandon()
}

// checkQuestion returns why the tool must not ask a question.
func (c *call) checkQuestion(q *tool.Question) *tool.Error {
	kind, size := q.Kind(), question.Size(q)
	switch {
	case kind == "":
		return tool.Errorf(tool.KindInvalidArgument, "the question asks neither a person nor a model, nor for folders")
	case !c.executed():
		return tool.Errorf(tool.KindUnsupported, "a preview cannot ask; ask when the arguments are complete")
	case !slices.Contains(c.permittedKinds(), kind):
		return tool.Errorf(tool.KindUnsupported, "the operator does not permit the plugin %q to ask %s; `plugin.%s.ask` in toolhost.yaml permits it", c.plugin(), question.Whom(kind), c.plugin())
	case !slices.Contains(c.request.Answers, kind):
		return tool.Errorf(tool.KindUnsupported, "the caller of the tool cannot ask %s", question.Whom(kind))
	case size > c.settings.Questions.Bytes:
		return tool.Errorf(tool.KindInvalidArgument, "the question has %d bytes; it may have %d", size, c.settings.Questions.Bytes)
	default:
		return nil
	}
}

// AnswerQuestion answers an open question of a call, and returns when the answer is on its way to
// the plugin. Errors: not_found if the question or the call is not open, and invalid_argument if
// the answer does not fit the question, which stays open.
func (h *Host) AnswerQuestion(ctx context.Context, key tool.CallKey, id uint32, answer tool.Answer) error {
	if err := ledger.CheckKey(key); err != nil {
		return err
	}
	e := h.ledger.Find(ledger.KeyOf(key))
	if e == nil || !authz.FromContext(ctx).InScope(e.Call.request.Tool) {
		_, err := h.eventsOf(ctx, key, 0)
		if err == nil { // the call has ended
			err = question.NotOpen(key.ID, id)
		}
		return err
	}
	s := e.Call.questions.Load()
	if s == nil {
		return question.NotOpen(key.ID, id)
	}
	return s.Answer(key.ID, id, answer)
}
