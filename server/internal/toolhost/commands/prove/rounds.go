package prove

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

const (
	// callsOfRound are made around each fault, by callers that make one at a time.
	callsOfRound = 100
	callers      = 12
	// patience is the timeout of a call: longer than a toolhost is down, or paused while others ask a
	// check that seals as often as they may. A call of this command takes some hundredths of a second.
	patience = 30 * time.Second
	// briefly is the timeout of who asks for a call of a paused toolhost, and sealing that of who may
	// execute it after its check has sealed it there.
	briefly = 500 * time.Millisecond
	sealing = 5 * time.Second
	// mostLate bounds how much later a call is sent to a second toolhost.
	mostLate = 60 * time.Millisecond
)

// sent is a call with all that was answered to it.
type sent struct {
	call          tool.Call
	first, second int           // the toolhosts that get it
	late          time.Duration // how much later the second one gets it
	halts         bool          // the first one halts before the effect, and the second one gets it then

	mu      sync.Mutex
	answer  *answer // nil: there is none yet
	changed *answer // what a later request got instead of an earlier answer; nil: the same
	settled bool
	stuck   bool // a toolhost gave no answer in time
}

// toolsOfNodes are the tools whose calls several toolhosts get.
var toolsOfNodes = []countTool{unchecked, checked, sealed}

// of returns the tool of the call.
func (s *sent) of() countTool { return countTool(s.call.Tool) }

func (s *sent) last() *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answer
}

// forget forgets what was answered.
func (s *sent) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.changed = nil, nil
}

// known reports whether the answer says what became of the call.
func (a *answer) known() bool { return a != nil && a.failure != tool.KindOutcomeUnknown }

// hear records an answer, and reports whether it is one: there is none of a call that another
// toolhost executes, and none of a toolhost that was killed. before is what was known when the
// request was sent. Only unknown may become another answer. An answer that is unknown may be older
// than one that another request got meanwhile, but two that are known must be the same.
func (s *sent) hear(before *answer, result tool.Result, failure *tool.Error) bool {
	a := &answer{receipt: resultText(result)}
	if failure != nil {
		if failure.Kind == tool.KindUnavailable || errors.Is(failure, client.ErrNoServer) || goesOn(failure) {
			return false
		}
		a = &answer{failure: failure.Kind, message: failure.Message}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.known() && !before.known() {
		before = s.answer
	}
	if before.known() && (a.failure != before.failure || a.receipt != before.receipt) {
		s.changed = a
	}
	if !s.answer.known() {
		s.answer = a
	}
	return true
}

// goesOn reports whether a caller is told that a toolhost still executes the call.
func goesOn(failure *tool.Error) bool {
	return failure.Kind == tool.KindOutcomeUnknown && strings.Contains(failure.Message, "under way at the toolhost")
}

// roundsOfNodes makes faults during the calls of callers of several toolhosts.
type roundsOfNodes struct {
	nodes  *nodes
	random *rand.Rand
	made   map[fault]int
	all    []*sent
}

// run carries out the plan until the time has passed, if it is not 0. It returns errStuck if a call
// is stuck.
func (r *roundsOfNodes) run(ctx context.Context, plan []strike, during time.Duration) error {
	began := time.Now()
	if err := r.round(ctx, 0, nil); err != nil {
		return err
	}
	for _, s := range r.all {
		if a := s.last(); a == nil || a.failure != "" || a.receipt == "" {
			return fmt.Errorf("calls without a fault went wrong: one ended with %+v", a)
		}
	}
	for i := range plan {
		if during > 0 && time.Since(began) > during {
			return nil
		}
		if err := r.round(ctx, i+1, &plan[i]); err != nil {
			return fmt.Errorf("%s: %w", plan[i].fault, err)
		}
		r.made[plan[i].fault]++
	}
	return nil
}

// round makes calls with a fault, and repeats each at all toolhosts until what became of it is
// known. It returns errStuck if that took too long.
func (r *roundsOfNodes) round(ctx context.Context, number int, s *strike) error {
	bounded, cancel := context.WithTimeoutCause(ctx, 2*stuckAfter, errStuck)
	defer cancel()
	session := fmt.Sprintf("round-%d", number)
	calls := r.draw(session)
	if s != nil && s.fault == paused {
		haltOne(calls, s)
	}
	r.all = append(r.all, calls...)
	if s != nil && s.fault == both {
		cli.Wait(ctx, durable) // what was answered before must stay
	}
	err := r.makeCalls(bounded, calls, s)
	if s != nil && s.fault == both {
		for _, c := range calls {
			c.forget() // the database may have lost it
		}
	}
	if err == nil {
		err = r.ask(bounded, calls)
	}
	var settled map[string]bool
	if err == nil {
		settled, err = r.nodes.settled(bounded, session)
	}
	for _, c := range calls {
		c.settled = settled[c.call.ID]
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case bounded.Err() != nil:
		return errStuck
	}
	return err
}

// draw returns the calls of a round.
func (r *roundsOfNodes) draw(session string) (calls []*sent) {
	for i := range callsOfRound {
		count := len(r.nodes.all)
		first := r.random.IntN(count)
		s := newSent(session, i)
		s.first, s.second, s.late = first, (first+1+r.random.IntN(count-1))%count, time.Duration(r.random.Int64N(int64(mostLate)))
		calls = append(calls, s)
	}
	return calls
}

// haltOne lets one of the calls that begin before a pause halt before its effect, at the toolhost
// that is paused. Its check seals it then, and when the call goes on, it must have no effect.
func haltOne(calls []*sent, s *strike) {
	for _, c := range calls[:int(s.after*float64(len(calls)))] {
		if c.of() != sealed {
			continue
		}
		if c.second == s.victim {
			c.second = c.first
		}
		c.first, c.halts, c.call.Arguments = s.victim, true, fmt.Appendf(nil, `{"job":"%s %s"}`, during, c.call.ID)
		return
	}
}

// untilHalted waits until the call of a session has halted that has to.
func (r *roundsOfNodes) untilHalted(ctx context.Context, session string) error {
	return await(ctx, r.nodes.path("work", halted, session))
}

// newSent returns a call of a session, by turns of each tool.
func newSent(session string, number int) *sent {
	id := fmt.Sprintf("c%d", number)
	of := toolsOfNodes[number%len(toolsOfNodes)]
	return &sent{call: tool.Call{ID: session + "." + id, Session: session, Tool: string(of), Arguments: fmt.Appendf(nil, `{"job":"%s %s"}`, anywhere, id)}}
}

// makeCalls sends each call to two toolhosts, and makes the fault when enough have begun. It
// returns when all are answered or have failed, and all servers run.
func (r *roundsOfNodes) makeCalls(ctx context.Context, calls []*sent, s *strike) error {
	var next atomic.Int64
	due, at := make(chan struct{}), int64(0)
	if s != nil {
		at = int64(s.after * float64(len(calls)))
	}
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for {
				i := next.Add(1) - 1
				if i == at {
					close(due)
				}
				if i >= int64(len(calls)) {
					return
				}
				r.send(ctx, calls[i])
			}
		})
	}
	var err error
	if s != nil {
		<-due
		if s.fault == paused {
			err = r.untilHalted(ctx, calls[0].call.Session)
		}
		if err == nil {
			err = r.nodes.hit(ctx, *s, func(paused *node) error { return r.askForPaused(ctx, calls, paused) })
		}
		// The call that has halted goes on.
		err = errors.Join(err, os.WriteFile(r.nodes.path("work", freed, calls[0].call.Session), nil, 0o600))
	}
	group.Wait()
	return errors.Join(err, r.nodes.check())
}

// send sends a call to its toolhosts.
func (r *roundsOfNodes) send(ctx context.Context, c *sent) {
	var group sync.WaitGroup
	group.Go(func() {
		ready := cli.Wait(ctx, c.late)
		if c.halts {
			ready = r.untilHalted(ctx, c.call.Session) == nil
		}
		if ready {
			r.request(ctx, c, c.second, patience)
		}
	})
	r.request(ctx, c, c.first, patience)
	group.Wait()
}

// request sends a call to a toolhost, and reports whether it has an answer.
func (r *roundsOfNodes) request(ctx context.Context, c *sent, at int, timeout time.Duration) bool {
	return c.sendTo(ctx, r.nodes.all[at].tools, timeout)
}

// sendTo sends a call to the toolhosts of a client, and reports whether it has an answer.
func (c *sent) sendTo(ctx context.Context, tools *client.Client, timeout time.Duration) bool {
	call, before := c.call, c.last()
	call.Timeout = timeout
	outcome, err := tools.Call(ctx, call)
	if ctx.Err() != nil {
		return false
	}
	return c.hear(before, outcome.Result, tool.AsError(err))
}

// askForPaused asks other toolhosts for the calls that a paused toolhost has, while their outcome
// cannot be known. It asks only for those that have had their effect, because a toolhost would
// execute another one. Where a check seals, a toolhost that has no request for the call asks it,
// and then executes the call while the paused toolhost has it, too.
func (r *roundsOfNodes) askForPaused(ctx context.Context, calls []*sent, paused *node) error {
	begun, err := receipts(r.nodes.path("work", effects), calls[0].call.Session)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	for _, c := range calls {
		switch {
		case r.nodes.all[c.first] != paused || c.last() != nil:
		case c.of() == sealed && len(r.nodes.all) > 2:
			third := 0
			for third == c.first || third == c.second {
				third++
			}
			group.Go(func() {
				for range maxSettling {
					if r.request(ctx, c, third, sealing) && c.last().known() {
						return
					}
				}
			})
		case len(begun[c.call.ID]) > 0:
			group.Go(func() { r.request(ctx, c, c.second, briefly) })
		}
	}
	group.Wait()
	return nil
}

// ask repeats each call at all toolhosts in a random order, until each has an answer. A tool with a
// check is asked at one toolhost alone, so its calls are repeated until it was asked.
func (r *roundsOfNodes) ask(ctx context.Context, calls []*sent) error {
	orders := make([][]int, len(calls))
	for i := range orders {
		orders[i] = r.random.Perm(len(r.nodes.all))
	}
	return eachCall(ctx, calls, func(i int) error {
		for range maxSettling {
			for _, at := range orders[i] {
				if err := r.untilAnswered(ctx, calls[i], at); err != nil {
					return err
				}
			}
			if calls[i].last().known() || calls[i].of() == unchecked {
				break
			}
		}
		return nil
	})
}

func (r *roundsOfNodes) untilAnswered(ctx context.Context, c *sent, at int) error {
	for !r.request(ctx, c, at, patience) {
		if !cli.Wait(ctx, again) {
			c.stuck = true
			return context.Cause(ctx)
		}
	}
	return nil
}

// askAgain repeats all calls at one toolhost each, long after they have ended.
func (r *roundsOfNodes) askAgain(ctx context.Context) error {
	places := make([]int, len(r.all))
	for i := range places {
		places[i] = r.random.IntN(len(r.nodes.all))
	}
	return eachCall(ctx, r.all, func(i int) error {
		bounded, cancel := context.WithTimeoutCause(ctx, stuckAfter, errStuck)
		defer cancel()
		return r.untilAnswered(bounded, r.all[i], places[i])
	})
}

// eachCall does something for each call, for some at the same time, until one fails.
func eachCall(ctx context.Context, calls []*sent, do func(i int) error) error {
	var next atomic.Int64
	failed := make([]error, callers)
	var group sync.WaitGroup
	for worker := range callers {
		group.Go(func() {
			for failed[worker] == nil {
				i := int(next.Add(1) - 1)
				if i >= len(calls) {
					return
				}
				failed[worker] = do(i)
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// tallies counts what became of the calls of each tool, and says what is wrong with which.
func (r *roundsOfNodes) tallies() (tallies map[countTool]*nodesTally, wrong []string, err error) {
	tallies = map[countTool]*nodesTally{}
	for _, of := range toolsOfNodes {
		tallies[of] = &nodesTally{}
	}
	found := map[string]map[string][]string{}
	for _, c := range r.all {
		session := c.call.Session
		if found[session] == nil {
			if found[session], err = receipts(r.nodes.path("work", effects), session); err != nil {
				return nil, nil, err
			}
		}
		var one nodesTally
		e := ended{answer: c.last(), receipts: found[session][c.call.ID], settled: c.settled}
		if c.stuck {
			e.answer = nil
		}
		one.add(e)
		if c.changed != nil {
			one.Changed++
		}
		if !one.holds(c.of() != unchecked) {
			wrong = append(wrong, fmt.Sprintf("%s of %s: %d effects; the answer is %v, and later %v", c.call.ID, c.of(), len(e.receipts), e.answer, c.changed))
		}
		tallies[c.of()].plus(one)
	}
	return tallies, wrong, nil
}
