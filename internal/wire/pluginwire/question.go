package pluginwire

import (
	"context"
	"slices"
	"sync"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// questionOf returns the question in a frame as an event, or nil. The ID of the question is the
// number that the plugin chose.
func questionOf(frame *pluginv1.ConnectResponse) *tool.Question {
	switch f := frame.GetFrame().(type) {
	case *pluginv1.ConnectResponse_AskPerson:
		return &tool.Question{ID: f.AskPerson.GetNumber(), Person: toolpb.ToPersonQuestion(f.AskPerson.GetQuestion())}
	case *pluginv1.ConnectResponse_AskModel:
		return &tool.Question{ID: f.AskModel.GetNumber(), Model: toolpb.ToModelQuestion(f.AskModel.GetQuestion())}
	default:
		return nil
	}
}

// Answer sends the answer to a question. number is the ID of the Question that Next returned. It
// blocks until the stream has room or ctx ends. It does nothing if the call has ended.
func (c *Call) Answer(ctx context.Context, number uint32, answer tool.Answer) error {
	c.mu.Lock()
	over := c.over
	c.mu.Unlock()
	if over {
		return nil
	}
	out := toolpb.FromAnswer(answer)
	if e := out.GetError(); e != nil {
		e.Message = clip(e.GetMessage(), maxReason)
	}
	reply := &pluginv1.QuestionAnswer{Number: number, Answer: out}
	frame := &pluginv1.ConnectRequest{Call: c.number, Frame: &pluginv1.ConnectRequest_Answer{Answer: reply}}
	return c.put(ctx, frame, out.SizeWire())
}

// Ask asks the caller of the tool, and waits for the answer. Exactly one of q.Person and q.Model
// must be set; the other fields are ignored. The answer has Err set if the host refused the
// question. It fails if the host does not permit the question (tool.KindUnsupported, and nothing is
// sent), if ctx or the call ends, or if the question has more than 1 MiB. It is safe for concurrent
// use.
func (c *ServerCall) Ask(ctx context.Context, q *tool.Question) (tool.Answer, error) {
	if err := c.mayAsk(q.Kind()); err != nil {
		return tool.Answer{}, err
	}
	number, arrived := c.asked.open()
	defer c.asked.forget(number)
	frame := &pluginv1.ConnectResponse{Call: c.number}
	if q.Person != nil {
		frame.Frame = &pluginv1.ConnectResponse_AskPerson{AskPerson: &pluginv1.AskPerson{Number: number, Question: toolpb.FromPersonQuestion(q.Person)}}
	} else {
		frame.Frame = &pluginv1.ConnectResponse_AskModel{AskModel: &pluginv1.AskModel{Number: number, Question: toolpb.FromModelQuestion(q.Model)}}
	}
	if err := c.send(ctx, frame); err != nil {
		return tool.Answer{}, err
	}
	select {
	case answer := <-arrived:
		return answer, nil
	case <-ctx.Done():
		return tool.Answer{}, context.Cause(ctx)
	case <-c.ctx.Done():
		return tool.Answer{}, context.Cause(c.ctx)
	}
}

// mayAsk returns the error for a question that the host does not permit. A host of an earlier
// version permits none.
func (c *ServerCall) mayAsk(kind tool.QuestionKind) error {
	if kind != tool.QuestionPerson && kind != tool.QuestionModel {
		return tool.Errorf(tool.KindInvalidArgument, "a question asks either a person or a model")
	}
	if slices.Contains(c.start.Answers, kind) {
		return nil
	}
	return tool.Errorf(tool.KindUnsupported,
		"no %s can be asked in this call: the caller does not answer such questions, or the operator does not permit them", kind)
}

// asked is the questions of a call on the plugin's end that have no answer yet. The zero value has
// none.
type asked struct {
	mu      sync.Mutex
	last    uint32                      // the number of the latest question
	waiting map[uint32]chan tool.Answer // by number; nil before the first question
}

// open returns the number of a new question, and the channel that gets its answer.
func (a *asked) open() (number uint32, arrived <-chan tool.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = map[uint32]chan tool.Answer{}
	}
	a.last++
	answer := make(chan tool.Answer, 1)
	a.waiting[a.last] = answer
	return a.last, answer
}

// forget makes a later answer to the question ignored.
func (a *asked) forget(number uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, number)
}

// answered gives an answer of the host to the goroutine that waits for it. It ignores an answer
// without a question.
func (a *asked) answered(reply *pluginv1.QuestionAnswer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if waiting := a.waiting[reply.GetNumber()]; waiting != nil {
		delete(a.waiting, reply.GetNumber())
		waiting <- toolpb.ToAnswer(reply.GetAnswer()) // the channel has room for it
	}
}
