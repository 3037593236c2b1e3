package agent

import (
	"context"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// questions passes the questions of one call from toolhost to the run, and the replies from the run
// to toolhost. All methods are safe for concurrent use.
//
// The run decides about a question in its own goroutine, because a question becomes an event of the
// journal. The events of the call arrive in another goroutine, and come again after a lost
// connection or a restart. So the two sides meet here: a reply is sent when toolhost says that the
// question is open and the journal has the reply, in whichever order the two become known.
type questions struct {
	mu      sync.Mutex
	open    map[uint32]tool.Answer // at toolhost, with the reply that was sent last; zero: none was
	replies map[uint32]tool.Answer
	wake    chan struct{} // of capacity 1: a reply may have to be sent
}

func newQuestions() *questions {
	return &questions{open: map[uint32]tool.Answer{}, wake: make(chan struct{}, 1)}
}

// deliver sets the replies that the journal has.
func (q *questions) deliver(replies map[uint32]tool.Answer) {
	q.mu.Lock()
	q.replies = replies
	q.mu.Unlock()
	q.signal()
}

func (q *questions) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// opened records that a question is open.
func (q *questions) opened(id uint32) {
	q.mu.Lock()
	q.open[id] = tool.Answer{}
	q.mu.Unlock()
	q.signal()
}

// closed records that a question is not open any more. It returns the number of those that are.
func (q *questions) closed(id uint32) (left int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.open, id)
	return len(q.open)
}

// next returns a reply that has to be sent, and regards it as sent. A reply that toolhost has
// refused is not sent again; another reply to the same question is.
func (q *questions) next() (id uint32, answer tool.Answer, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, sent := range q.open {
		if answer, ok := q.replies[id]; ok && answer != sent {
			q.open[id] = answer
			return id, answer, true
		}
	}
	return 0, tool.Answer{}, false
}

// unsent makes the reply to a question be sent again.
func (q *questions) unsent(id uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, open := q.open[id]; open {
		q.open[id] = tool.Answer{}
	}
}

// asked is what a call reports to its run about a question.
type asked struct {
	callID   string
	question *tool.Question
	refused  string // why toolhost refused the last answer; empty: it refused none
	closed   bool   // the question closed without an answer
}

// answers returns what the run answers. A run without a person still has its model.
func (e *toolCall) answers() []tool.QuestionKind {
	if e.attended {
		return []tool.QuestionKind{tool.QuestionPerson, tool.QuestionModel}
	}
	return []tool.QuestionKind{tool.QuestionModel}
}

// ask takes a question of the tool. While it is open, the agent's own deadline for the call pauses:
// toolhost bounds the time of questions.
func (e *toolCall) ask(q *tool.Question) {
	e.clock.pause()
	e.asking[q.ID] = q
	e.task.questions.opened(q.ID)
	e.run.report(update{task: e.task, asked: &asked{callID: e.call.ID, question: q}})
}

// closed takes the end of a question.
func (e *toolCall) closed(c *tool.QuestionClosed) {
	if e.task.questions.closed(c.ID) == 0 {
		e.clock.resume()
	}
	if q := e.asking[c.ID]; q != nil && c.Reason != tool.QuestionAnswered {
		e.run.report(update{task: e.task, asked: &asked{callID: e.call.ID, question: q, closed: true}})
	}
	delete(e.asking, c.ID)
}

// sendReplies sends the replies of the run to toolhost, until ctx ends.
func (e *toolCall) sendReplies(ctx context.Context) {
	key := tool.CallKey{Session: e.session, ID: e.call.SentID()}
	for failures := 0; ; {
		id, answer, ok := e.task.questions.next()
		if !ok {
			select {
			case <-e.task.questions.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := e.run.config.Tools.AnswerQuestion(ctx, key, id, answer)
		switch {
		case err == nil, ctx.Err() != nil:
			failures = 0
		case tool.KindOf(err) == tool.KindInvalidArgument && answer.Person != nil:
			e.run.report(update{task: e.task, asked: &asked{
				callID: e.call.ID, question: &tool.Question{ID: id}, refused: tool.AsError(err).Message,
			}})
		case !mayRecover(err): // such as a question that is not open any more
			e.run.log.to(loglevel.Tools).Warn("an answer for a tool was refused", "tool", e.call.Tool, "call", e.call.ID, "error", err)
		default:
			failures++
			e.task.questions.unsent(id)
			_ = sleep(ctx, e.run.config.ToolRetry.pause(failures, tool.AsError(err).RetryAfter)) // the loop sees the end of ctx
		}
	}
}

// takeQuestion handles what a call reports about a question.
func (r *run) takeQuestion(ctx context.Context, t *task, a *asked) error {
	q := a.question
	switch {
	case a.closed:
		if d := r.state.Asked(a.callID, q.ID); d != nil {
			return r.commit(ctx, &loop.DecisionMade{ID: d.ID, Verdict: loop.VerdictExpired})
		}
		return nil
	case a.refused != "":
		q = t.asked[q.ID] // whatever the sender knows of it
		if q == nil {
			return nil
		}
	}
	if q.Model != nil {
		return r.completeFor(ctx, t, a.callID, q)
	}
	t.asked[q.ID] = q
	d := r.state.AskPerson(a.callID, q, a.refused)
	if d == nil {
		return nil
	}
	if left := time.Until(q.Expires); !q.Expires.IsZero() && (d.Expiry == 0 || left < d.Expiry) {
		d.Expiry = max(left, 1)
	}
	return r.commit(ctx, d)
}

// completeFor requests the model for a tool, unless the request is in progress or its reply is in
// the journal.
func (r *run) completeFor(ctx context.Context, t *task, callID string, q *tool.Question) error {
	c := r.state.Batch().Call(callID)
	if _, replied := r.state.Batch().Replies(callID)[q.ID]; replied || c == nil || t.asked[q.ID] != nil {
		return nil
	}
	t.asked[q.ID] = q
	reply := &loop.ModelReplied{CallID: callID, Tool: c.Tool, Plugin: q.Plugin, Question: q.ID}
	if refused := r.state.MayComplete(); refused != nil {
		reply.Failure = &loop.Failure{Kind: refused.Kind, Message: refused.Message}
		return r.commit(ctx, reply)
	}
	request, unfit := modelRequestOf(q.Model, r.state.AnswerTokens(q.Model.MaxTokens))
	if unfit != nil {
		reply.Failure = &loop.Failure{Kind: unfit.Kind, Message: unfit.Message}
		return r.commit(ctx, reply)
	}
	owner := r.state.Started().Principal
	r.group.Go(func() { // ends with the task
		r.complete(t, owner, request, reply)
		r.report(update{task: t, replied: reply})
	})
	return nil
}

// modelRequestOf returns the request for a question. The models of the agent take only text.
func modelRequestOf(q *tool.ModelQuestion, most int) (model.Request, *tool.Error) {
	request := model.Request{System: q.System, MaxTokens: most}
	for _, m := range q.Messages {
		message := model.Message{Role: model.RoleUser}
		if m.Role == tool.ModelAssistant {
			message.Role = model.RoleAssistant
		}
		for i := range m.Content {
			if m.Content[i].Kind != tool.ContentText {
				return request, tool.Errorf(tool.KindUnsupported, "the model of this run takes only text in a question of a tool")
			}
			message.Blocks = append(message.Blocks, model.Block{Text: &model.Text{Text: m.Content[i].Text}})
		}
		request.Messages = append(request.Messages, message)
	}
	return request, nil
}

// complete requests the model, with retries, and puts its response or the failure into the reply.
func (r *run) complete(t *task, owner string, request model.Request, reply *loop.ModelReplied) {
	fail := func(kind tool.Kind, words string) { reply.Failure = &loop.Failure{Kind: kind, Message: words} }
	defer func() {
		if v := recover(); v != nil {
			r.log.to(loglevel.Runs).Error("panic in a model request for a tool", "panic", v)
			reply.Answer = nil
			fail(tool.KindInternal, "agentd has a bug: a panic in a model request for a tool")
		}
	}()
	if _, err := r.agent.unspent(t.ctx, owner); err != nil {
		fail(tool.KindRateLimited, err.Error())
		return
	}
	if err := r.noModel; err != nil {
		fail(tool.KindUnavailable, err.Error())
		return
	}
	for route := r.newRoute(request.Messages); ; {
		from := route.current()
		resp, err := r.ask(t, &route, request, func(model.Chunk) {})
		if err == nil {
			reply.Usage, reply.Cost = route.wasted.Add(resp.Usage), route.cost+from.cost(resp.Usage)
			reply.Answer = &tool.ModelAnswer{
				Model: from.Model.Name(), Content: []tool.Content{tool.Text(textOf(resp))},
				StopReason: string(resp.StopReason), Usage: resp.Usage,
			}
			return
		}
		failure := modelError(err)
		step := route.failed(failure)
		reply.Usage, reply.Cost = route.wasted, route.cost
		if !step.again || t.ctx.Err() != nil {
			fail(tool.KindUnavailable, "the model did not answer: "+failure.Error())
			return
		}
		if !route.repeat(t.ctx, &r.log, "model is asked again for a tool", step, failure) {
			return
		}
	}
}

func textOf(resp *model.Response) string {
	text := ""
	for _, b := range resp.Message.Blocks {
		if b.Text != nil {
			text += b.Text.Text
		}
	}
	return text
}

// callClock is the agent's deadline for a call, which does not run while the tool waits for an
// answer. It is for the goroutine of the call.
type callClock struct {
	timer  *time.Timer
	end    time.Time     // when the timer fires
	left   time.Duration // of a clock that pauses; 0: it runs
	cancel context.CancelFunc
	over   chan struct{} // closed when what the timer does has ended
}

// newCallClock starts a clock. over is called once when the time is up, in a goroutine that stop
// waits for. Its context ends with stop.
func newCallClock(ctx context.Context, d time.Duration, over func(context.Context)) *callClock {
	ctx, cancel := context.WithCancel(ctx)
	c := &callClock{end: time.Now().Add(d), cancel: cancel, over: make(chan struct{})}
	c.timer = time.AfterFunc(d, func() {
		defer close(c.over)
		over(ctx)
	})
	return c
}

// stop ends the clock. It may wait as long as a claim takes.
func (c *callClock) stop() {
	c.cancel()
	if !c.timer.Stop() && c.left == 0 {
		<-c.over
	}
}

// pause stops the clock. It does nothing if the clock pauses, or has fired.
func (c *callClock) pause() {
	if c.left == 0 && c.timer.Stop() {
		c.left = max(time.Until(c.end), 1)
	}
}

// resume starts a clock that pauses.
func (c *callClock) resume() {
	if c.left > 0 {
		c.end = time.Now().Add(c.left)
		c.timer.Reset(c.left)
		c.left = 0
	}
}
