package operate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/form"
	"github.com/toolhost/toolhost/tool"
)

// interviewer asks the person at the terminal what the tool of a call asks. The goroutine that
// reads the events of the call must not wait for a person: it has to notice that a question has
// closed. So a second goroutine prompts, one question at a time, and each question has a context
// that ends when the question closes.
type interviewer struct {
	client  *client.Client
	session string
	process cli.Process
	console *terminal.Console // used by run only

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup // run

	mu    sync.Mutex
	queue []*tool.Question // open questions in order; the first is being asked
	stops map[uint32]context.CancelFunc
	more  chan struct{} // of capacity 1: queue has grown
}

// newInterviewer returns an interviewer, or nil if there is no person at a terminal. readsInput
// says that the arguments come from standard input. The caller must close it.
func newInterviewer(ctx context.Context, c *client.Client, p cli.Process, session string, readsInput bool) *interviewer {
	if readsInput || !cli.IsTerminal(p.Stdin) || !cli.IsTerminal(p.Stderr) {
		return nil
	}
	prompts := p
	prompts.Stdout = p.Stderr // standard output is for the result
	i := &interviewer{
		client: c, session: session, process: p, console: terminal.NewConsole(prompts),
		stops: map[uint32]context.CancelFunc{}, more: make(chan struct{}, 1),
	}
	i.ctx, i.cancel = context.WithCancel(ctx)
	i.work.Go(i.run) // ends with i.ctx; close waits
	return i
}

// close ends the prompts and waits for them. A nil interviewer has none.
func (i *interviewer) close() {
	if i != nil {
		i.cancel()
		i.work.Wait()
	}
}

// answers returns what the caller answers.
func (i *interviewer) answers() []tool.QuestionKind {
	if i == nil {
		return nil
	}
	return []tool.QuestionKind{tool.QuestionPerson}
}

// see handles an event of the call. It does not block.
func (i *interviewer) see(e tool.Event) {
	switch {
	case i == nil:
	case e.Question != nil && e.Question.Person != nil:
		i.mu.Lock()
		i.queue = append(i.queue, e.Question)
		i.mu.Unlock()
		select {
		case i.more <- struct{}{}:
		default:
		}
	case e.Closed != nil:
		i.withdraw(e.Closed.ID)
	}
}

// withdraw ends the prompts of a question that has closed.
func (i *interviewer) withdraw(id uint32) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.queue = slices.DeleteFunc(i.queue, func(q *tool.Question) bool { return q.ID == id })
	if stop := i.stops[id]; stop != nil {
		stop()
	}
}

// next returns the next question, and a context that ends when it closes. It returns nil if there
// is none.
func (i *interviewer) next() (*tool.Question, context.Context, context.CancelFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.queue) == 0 {
		return nil, nil, nil
	}
	q := i.queue[0]
	i.queue = i.queue[1:]
	ctx, stop := context.WithCancel(i.ctx)
	i.stops[q.ID] = stop
	return q, ctx, stop
}

func (i *interviewer) run() {
	for {
		q, ctx, stop := i.next()
		if q == nil {
			select {
			case <-i.more:
				continue
			case <-i.ctx.Done():
				return
			}
		}
		i.interview(ctx, q)
		stop()
	}
}

// errDecline and errDismiss say what the person did in place of an answer.
var (
	errDecline = errors.New("declined")
	errDismiss = errors.New("dismissed")
)

// interview asks one question, again if toolhost refuses the answer, and sends the answer.
func (i *interviewer) interview(ctx context.Context, q *tool.Question) {
	i.say("\nthe plugin %s asks for its tool %s:\n%s\n(%s refuses, and Ctrl-D closes the question)\n", q.Plugin, q.Tool, q.Person.Message, form.DeclineWord)
	for {
		answer, err := i.fill(ctx, q)
		if ctx.Err() != nil {
			if i.ctx.Err() == nil {
				i.say("\nthe question is no longer open\n")
			}
			return
		}
		switch {
		case errors.Is(err, errDecline):
			answer = tool.PersonAnswer{Action: tool.PersonDecline}
		case err != nil:
			answer = tool.PersonAnswer{Action: tool.PersonDismiss}
		}
		err = i.client.AnswerQuestion(ctx, tool.CallKey{Session: i.session, ID: q.CallID}, q.ID, tool.Answer{Person: &answer})
		switch {
		case err == nil, ctx.Err() != nil:
			return
		case tool.KindOf(err) == tool.KindInvalidArgument && answer.Action == tool.PersonAccept:
			i.say("%v; answer again\n", err)
		default:
			i.say("the answer was not sent: %v\n", err)
			return
		}
	}
}

// fill asks for each field of the answer. A schema without fields takes one JSON value.
func (i *interviewer) fill(ctx context.Context, q *tool.Question) (tool.PersonAnswer, error) {
	fields := form.Fields(q.Person.Schema)
	if len(fields) == 0 {
		whole := form.Field{Name: "the answer", Required: true}
		value, err := i.value(ctx, &whole)
		return tool.PersonAnswer{Action: tool.PersonAccept, Content: value}, err
	}
	values := map[string]json.RawMessage{}
	for n := range fields {
		value, err := i.value(ctx, &fields[n])
		if err != nil {
			return tool.PersonAnswer{}, err
		}
		values[fields[n].Name] = value
	}
	return tool.PersonAnswer{Action: tool.PersonAccept, Content: form.Object(fields, values)}, nil
}

// value asks for one field until the person types a value that it takes.
func (i *interviewer) value(ctx context.Context, f *form.Field) (json.RawMessage, error) {
	for {
		if err := i.console.Ask(terminal.Question{Prompt: cli.OneLine(f.Prompt()) + ": "}); err != nil {
			return nil, errDismiss
		}
		select {
		case typed := <-i.console.Read():
			i.console.Take()
			switch {
			case errors.Is(typed.Err, terminal.ErrInterrupted):
				if terminal.Interrupt() == nil {
					<-ctx.Done() // Ctrl-C cancels the call
				}
				return nil, errDismiss
			case typed.Err != nil:
				if !i.console.Edits() {
					i.say("\n")
				}
				return nil, errDismiss
			case strings.TrimSpace(typed.Text) == form.DeclineWord:
				return nil, errDecline
			}
			value, err := f.Value(typed.Text)
			if err == nil {
				return value, nil
			}
			i.say("%v\n", err)
		case <-ctx.Done():
			i.console.Withdraw()
			return nil, ctx.Err()
		}
	}
}

// say writes to the terminal, without what could control it. A failing terminal does not stop the
// call.
func (i *interviewer) say(format string, args ...any) {
	fmt.Fprintf(i.process.Err(), format, args...)
}
