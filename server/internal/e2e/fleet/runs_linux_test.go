//go:build more

package fleet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

const (
	// patienceOfRequest bounds one request to an agentd, which may be stopped.
	patienceOfRequest = 4 * time.Second
	// stuckAfter is how long a run may take. Everything that bounds a fault takes less together.
	stuckAfter = 6 * time.Minute
	// runners is how many runs there are at the same time.
	runners = 12
	// turns is how many responses of the model a run has.
	turns = 6
	// outcomeAnswer is the answer of a person who was asked what became of a call.
	outcomeAnswer = "nobody saw it"
	// subTask is the prompt of the sub-runs.
	subTask = "pay the writer"
)

// script is the script of the model: a run with a sub-run, in which calls of each kind are made.
const script = `
turns:
  - calls: [{tool: pay_once, arguments: {what: a}}, {tool: pay_balance, arguments: {what: a}}]
  - calls: [{tool: pay_looked, arguments: {what: b}}, {tool: pay_sealed, arguments: {what: c}}]
  - calls: [{tool: new_task, arguments: {task: ` + subTask + `}}]
  - calls: [{tool: pay_dangerous, arguments: {what: d}}, {tool: pay_once, arguments: {what: e}}]
  - {delay: 200ms, chunks: 5, text: more, calls: [{tool: pay_sealed, arguments: {what: f}}, {tool: pay_looked, arguments: {what: g}}]}
  - text: all is paid
tasks:
  - prompt: ` + subTask + `
    turns:
      - calls: [{tool: pay_sealed, arguments: {what: h}}, {tool: pay_dangerous, arguments: {what: i}}]
      - text: the writer is paid
`

// manner is what a person does when the run itself asks for its approval.
type manner int

const (
	approves manner = iota
	writes          // sends a message, and approves
	cancels
	manners
)

// run is a run of an agent, with what a watcher has seen of it.
type run struct {
	id     string
	manner manner
	events []client.RunEvent // the durable ones
	wrote  atomic.Bool       // whether the message was sent
	asked  sync.Map          // the tools of calls whose outcome a person was asked for, by call id
	again  sync.Map          // whether a person makes the call again, by the name of the decision
	subs   []*run
}

// end returns how the run ended, or nil.
func (r *run) end() *client.RunEnded {
	if len(r.events) == 0 {
		return nil
	}
	ended, _ := r.events[len(r.events)-1].Payload.(*client.RunEnded)
	return ended
}

// load makes runs, and answers what they ask.
type load struct {
	*world
	least  int
	alone  bool        // each request goes to one agentd
	faulty atomic.Bool // faults are made
	ended  atomic.Int64

	mu   sync.Mutex
	runs []*run
	byID map[string]*run
	busy map[string]bool // the names of decisions that a goroutine makes
	odd  []string        // answers that no request may have
}

func newLoad(w *world, least int) *load {
	return &load{world: w, least: least, byID: map[string]*run{}, busy: map[string]bool{}}
}

// next returns a new run, or nil if there are enough.
func (l *load) next() *run {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.runs)
	if n >= l.least && !l.faulty.Load() {
		return nil
	}
	r := &run{id: fmt.Sprintf("r%d", n), manner: manner(n % int(manners))}
	l.runs, l.byID[r.id] = append(l.runs, r), r
	return r
}

// of returns the run with an id, also that of which it is a sub-run.
func (l *load) of(id, parent string) *run {
	l.mu.Lock()
	defer l.mu.Unlock()
	if parent != "" {
		return l.byID[parent]
	}
	return l.byID[id]
}

// strange records an answer that no request may have.
func (l *load) strange(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.odd = append(l.odd, fmt.Sprintf(format, args...))
}

// may reports whether a fault explains the failure of a request, so that it is repeated.
func may(err error) bool {
	switch tool.KindOf(err) {
	case tool.KindUnavailable, tool.KindTimeout, tool.KindCancelled, tool.KindOutcomeUnknown:
		return true
	}
	return false
}

// insist repeats a request at any agentd until it has an answer that is final. The request goes to
// two agentds at the same time if it is twice.
func (l *load) insist(ctx context.Context, twice bool, request func(context.Context, *client.AgentClient) error) error {
	for {
		var group sync.WaitGroup
		if first := rand.IntN(size); twice && !l.alone {
			group.Go(func() { // ends with its request
				short, cancel := brief(ctx)
				defer cancel()
				_ = request(short, l.agents[(first+1)%size]) // the one below counts, which gets the same answer
			})
		}
		short, cancel := brief(ctx)
		err := request(short, l.anyAgent())
		cancel()
		group.Wait()
		if err == nil || ctx.Err() != nil || !may(err) {
			return err
		}
		wait(ctx, again)
	}
}

// wait waits for a moment.
func wait(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// work makes runs until there are enough, and returns when they have ended or are stuck.
func (l *load) work(ctx context.Context) {
	var group sync.WaitGroup
	for range runners {
		group.Go(func() {
			for r := l.next(); r != nil; r = l.next() {
				l.live(ctx, r)
			}
		})
	}
	group.Wait()
}

// live starts a run, and follows it and its sub-runs to their ends.
func (l *load) live(ctx context.Context, r *run) {
	ctx, cancel := context.WithTimeout(ctx, stuckAfter)
	defer cancel()
	task := client.Task{Prompt: "pay", RunID: r.id, People: &client.People{Attended: true, AskOutcome: true, Expiry: 24 * time.Hour}}
	err := l.insist(ctx, true, func(ctx context.Context, c *client.AgentClient) error {
		_, err := c.StartRun(ctx, task)
		return err
	})
	if err != nil && ctx.Err() == nil {
		l.strange("starting %s: %v", r.id, err)
		return
	}
	l.follow(ctx, r)
	for _, e := range r.events {
		if started, is := e.Payload.(*client.SubRunStarted); is {
			sub := &run{id: started.RunID}
			r.subs = append(r.subs, sub)
			l.follow(ctx, sub)
		}
	}
	if r.end() != nil {
		l.ended.Add(1)
	}
}

// follow watches a run at one agentd after the other until it has ended. Each durable event comes
// once and in order.
func (l *load) follow(ctx context.Context, r *run) {
	for r.end() == nil && ctx.Err() == nil {
		short, cancel := brief(ctx)
		for e, err := range l.anyAgent().WatchRun(short, r.id, uint64(len(r.events))) {
			if err != nil {
				if !may(err) {
					l.strange("watching %s: %v", r.id, err)
				}
				break
			}
			if e.Index > 0 {
				continue
			}
			if e.Seq != uint64(len(r.events))+1 {
				l.strange("watching %s: the event %d comes after %d", r.id, e.Seq, len(r.events))
				break
			}
			r.events = append(r.events, e)
		}
		cancel()
		if r.end() == nil {
			wait(ctx, again)
		}
	}
}

// answer makes the decisions that runs ask for until ctx ends.
func (l *load) answer(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	for ctx.Err() == nil {
		short, cancel := brief(ctx)
		for d, err := range l.anyAgent().Inbox(short, client.InboxFilter{}) {
			if err != nil {
				if !may(err) {
					l.strange("listing decisions: %v", err)
				}
				break
			}
			l.mu.Lock()
			free := !l.busy[d.Name]
			l.busy[d.Name] = true
			l.mu.Unlock()
			if free {
				group.Go(func() {
					l.decide(ctx, d.Name)
					l.mu.Lock()
					defer l.mu.Unlock()
					delete(l.busy, d.Name)
				})
			}
		}
		cancel()
		wait(ctx, again)
	}
}

// decide makes one decision, if it still waits.
func (l *load) decide(ctx context.Context, name string) {
	var d client.InboxDecision
	err := l.insist(ctx, false, func(ctx context.Context, c *client.AgentClient) (err error) {
		d, err = c.InboxDecision(ctx, name)
		return err
	})
	if err != nil || !d.Waiting {
		if err != nil && ctx.Err() == nil {
			l.strange("reading the decision %s: %v", name, err)
		}
		return
	}
	r := l.of(d.RunID, d.ParentRunID)
	request := client.DecideRequest{Name: name, Etag: d.Etag, Verdict: client.Approve, RequestID: strings.NewReplacer("/", "-", ".", "-").Replace(name)}
	switch {
	case d.Kind == client.DecideOutcome:
		r.asked.Store(attempts.ReplaceAllString(d.CallID, ""), d.Tool)
		if again, _ := r.again.LoadOrStore(name, l.makesAgain(&d)); again == false {
			request.Verdict, request.Text = client.Answer, outcomeAnswer
		}
	case d.Kind != client.DecideApproval:
		l.strange("%s asks for a decision of the kind %s: %s", name, d.Kind, d.Reason)
	case d.ParentRunID != "":
	case r.manner == cancels:
		err := l.insist(ctx, true, func(ctx context.Context, c *client.AgentClient) error { return c.CancelRun(ctx, r.id, "enough") })
		if err != nil && ctx.Err() == nil {
			l.strange("cancelling %s: %v", r.id, err)
		}
		return
	case r.manner == writes && !r.wrote.Load():
		err := l.insist(ctx, true, func(ctx context.Context, c *client.AgentClient) error {
			_, err := c.SendMessageOnce(ctx, r.id, "m1", "and be quick")
			return err
		})
		if err != nil && ctx.Err() == nil {
			l.strange("writing to %s: %v", r.id, err)
		}
		r.wrote.Store(true)
	}
	err = l.insist(ctx, true, func(ctx context.Context, c *client.AgentClient) error {
		_, err := c.Decide(ctx, request)
		return err
	})
	// After a conflict the run asks for something else, and the list has it if it still waits.
	if err != nil && ctx.Err() == nil && tool.KindOf(err) != tool.KindConflict {
		l.strange("deciding %s: %v", name, err)
	}
}

// makesAgain reports whether a person has the call of a decision made again: one that the bank has
// not paid, unless the person reads that the call may still be executed.
func (l *load) makesAgain(d *client.InboxDecision) bool {
	return len(l.bank.receipts(d.CallID)) == 0 && !strings.Contains(d.Reason, "under way at the toolhost")
}
