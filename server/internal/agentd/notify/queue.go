package notify

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// queue sends the messages of one target, one after the other. After a failure it pauses, so that a
// target that does not answer gets one attempt for each pause, at most about one in a minute,
// however many messages there are. The message that failed waits for a pause of its own, which is
// stored: one that the target never takes does not keep back the others.
type queue struct {
	notifier *Notifier
	runs     Runs
	settings *Settings
	name     string
	target   Target
	woken    chan struct{} // capacity 1; signals that there are new messages
	failures int           // in a row
}

// mostFailures bounds the pause of a target to a minute. A message that the target never takes
// makes it look dead while there is no other, and the next message would wait for the end of its
// pause.
const mostFailures = 6

// run sends until ctx ends.
func (q *queue) run(ctx context.Context) {
	if connected, ok := q.target.(interface{ CloseIdleConnections() }); ok {
		defer connected.CloseIdleConnections()
	}
	for ctx.Err() == nil {
		if found, err := q.next(ctx); err != nil {
			q.failures = min(q.failures+1, mostFailures)
			wait(ctx, pauseAfter(q.failures, err), nil)
		} else if !found {
			wait(ctx, poll, q.woken)
		}
	}
}

// next sends the next message that is due. found is false if there is none.
func (q *queue) next(ctx context.Context) (found bool, err error) {
	log, outbox := q.notifier.log.With("target", q.name), q.notifier.outbox
	m, ok, err := outbox.Take(ctx, q.name, time.Now(), time.Now().Add(lease))
	if err != nil || !ok {
		if err != nil && ctx.Err() == nil {
			log.Warn("the messages of a target cannot be read", "error", err)
		}
		return false, err
	}
	c, err := q.content(ctx, &m)
	if err == nil && c != nil {
		if err = q.target.Send(ctx, c); err == nil {
			q.failures = 0
		}
	}
	// What was sent, or not, is noted also if the process ends meanwhile.
	kept := context.WithoutCancel(ctx)
	switch {
	case err == nil:
		if err := outbox.Remove(kept, m.ID); err != nil {
			log.Warn("a message was sent, and is sent again because that cannot be noted", "message", m.ID, "error", err)
			return true, err
		}
		return true, nil
	case ctx.Err() != nil:
		return true, outbox.Delay(kept, m.ID, time.Now())
	}
	again := time.Now().Add(pauseAfter(m.Attempts, err))
	log.Warn("a message was not sent, and is tried again", "message", m.ID, "kind", m.Kind, "run", m.RunID, "attempt", m.Attempts, "error", err,
		"again", again.UTC().Format(time.RFC3339), "until", m.Until.UTC().Format(time.RFC3339))
	if failed := outbox.Delay(kept, m.ID, again); failed != nil {
		log.Warn("when a message is tried again cannot be noted", "message", m.ID, "error", failed)
	}
	return true, err
}

// pauseAfter returns the pause after the nth failure in a row, which is random between a half and
// the whole, so that nodes do not try at the same time. A target can ask for a longer one.
func pauseAfter(n int, err error) time.Duration {
	pause := maxPause
	if n <= 11 {
		pause = min(maxPause, firstPause<<max(0, n-1))
	}
	pause = pause/2 + rand.N(pause/2+1)
	if asked, ok := errors.AsType[*later](err); ok {
		pause = max(pause, asked.after)
	}
	return pause
}

// content reads what a message says from its run. It is nil if there is nothing to say any more:
// the decision was made or ends later, the run was deleted, a backup was restored that does not
// have the event, or a reload took the route away, perhaps because the target is for others now.
func (q *queue) content(ctx context.Context, m *runstore.Message) (*Content, error) {
	started, e, err := q.runs.Event(ctx, m.RunID, m.Seq)
	if tool.KindOf(err) == tool.KindNotFound || err == nil && !e.Time.Equal(m.Created) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	of := fact{kind: Kind(m.Kind), tenant: agent.TenantOf(m.RunID), agent: started.Agent}
	c := &Content{
		ID: m.ID, Kind: Kind(m.Kind), Time: e.Time, Tenant: clean(of.tenant, maxName), Run: clean(m.RunID, maxName), Decision: clean(m.Decision, maxName),
		Agent: clean(started.Agent, maxName), For: clean(started.Principal, maxName),
	}
	c.place(q.settings.Pages, m.RunID, m.Decision)
	says := ""
	switch p := e.Payload.(type) {
	case *loop.DecisionRequested, *loop.DecisionExtended:
		d, err := q.runs.Decision(ctx, m.RunID, m.Decision)
		if tool.KindOf(err) == tool.KindNotFound || err == nil && (!d.Waits || c.Kind == Ending && d.Expires.After(endOf(&e))) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		of.rule = d.Rule
		c.Asks, c.Tool, c.Rule, c.Expires = d.Kind, clean(d.Tool, maxName), clean(d.Rule, maxName), d.Expires
		if !d.Expires.IsZero() {
			c.Left = time.Until(d.Expires)
		}
		says = d.Reason
		if d.Kind == loop.DecideApproval {
			says = d.Arguments
		}
	case *loop.CallResult:
		c.Tool = clean(p.Tool, maxName)
	case *loop.BudgetWarning:
		c.Budget, c.Used, c.Limit = p.Budget, p.Used, p.Limit
	case *loop.RunFinished:
		c.StopReason, says = p.StopReason, p.Message
	}
	if !q.settings.Routes.lead(of, q.name) {
		return nil, nil
	}
	if q.settings.Routes.arguments(of, q.name) {
		c.Arguments = clean(says, maxArguments)
	}
	return c, nil
}

// endOf returns the end that an event gives its decision. Another event may have moved it since.
func endOf(e *loop.Event) time.Time {
	switch p := e.Payload.(type) {
	case *loop.DecisionRequested:
		return e.Time.Add(p.Expiry)
	case *loop.DecisionExtended:
		return p.Expires
	}
	return time.Time{}
}

// Test sends a message that is about nothing.
func Test(ctx context.Context, target Target) error {
	now := time.Now()
	return target.Send(ctx, &Content{ID: messageID("", &loop.Event{Time: now}, "test", ""), Time: now, Command: "agentd inbox"})
}
