package prove

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

const (
	// sessionsOfNode are the sessions for each toolhost: so many that each one has some.
	sessionsOfNode = 8
	// beforeLoss and afterLoss are how long calls are made before a toolhost is killed, and after it.
	beforeLoss = time.Second
	afterLoss  = 4 * time.Second
	// betweenCalls is the pause of a session between two calls.
	betweenCalls = 50 * time.Millisecond
	// ofLoss is the timeout of a call. One that was under way at the lost toolhost takes that long.
	ofLoss = 3 * time.Second
)

// loss is what callers notice of a toolhost that is killed and does not come back.
type loss struct {
	Calls  int `json:"calls"`  // that began after it, or were under way
	Failed int `json:"failed"` // of these
	// Seconds is how long after it the last call began that failed. 0: none did that began later.
	Seconds float64 `json:"seconds_until_none"`
}

// String implements fmt.Stringer.
func (l *loss) String() string {
	return fmt.Sprintf("loss of a toolhost: %d of %d calls failed, and none that began later than %.1f s after it", l.Failed, l.Calls, l.Seconds)
}

// add counts a call that began at a time after the loss, or, if that is negative, was under way.
func (l *loss) add(began time.Duration, failed bool) {
	l.Calls++
	if failed {
		l.Failed++
		l.Seconds = max(l.Seconds, began.Seconds())
	}
}

// lose makes calls with a client that knows all toolhosts, and kills one of these. In the end all
// of them run, and what became of each call is known. It returns errStuck if that took too long.
func (r *roundsOfNodes) lose(ctx context.Context) (l loss, err error) {
	bounded, cancel := context.WithTimeoutCause(ctx, 2*stuckAfter, errStuck)
	defer cancel()
	var addresses []string
	for _, one := range r.nodes.all {
		addresses = append(addresses, r.nodes.address(one))
	}
	tools, err := client.Dial(strings.Join(addresses, ","), client.IgnoreEnvironment())
	if err != nil {
		return l, err
	}
	defer tools.Close()
	sessions := make([]lossSession, sessionsOfNode*len(addresses))
	var over atomic.Bool
	var group sync.WaitGroup
	for i := range sessions {
		group.Go(func() { sessions[i].run(bounded, tools, fmt.Sprintf("loss-%d", i), &over) })
	}
	cli.Wait(bounded, beforeLoss)
	victim := r.nodes.all[r.random.IntN(len(addresses))]
	lost := time.Now()
	victim.kill()
	cli.Wait(bounded, afterLoss)
	over.Store(true)
	group.Wait()
	var calls, failed []*sent
	for i := range sessions {
		for _, c := range sessions[i].calls {
			calls = append(calls, c.sent)
			if c.ended.After(lost) {
				l.add(c.began.Sub(lost), c.failed)
			}
			if c.failed {
				failed = append(failed, c.sent)
			}
		}
	}
	r.all = append(r.all, calls...)
	if err := r.nodes.start(bounded, victim); err != nil {
		return l, err
	}
	err = r.ask(bounded, failed)
	for _, c := range failed {
		var settled map[string]bool
		if err == nil {
			settled, err = r.nodes.settled(bounded, c.call.Session)
		}
		c.settled = settled[c.call.ID]
	}
	if ctx.Err() == nil && bounded.Err() != nil {
		err = errStuck
	}
	return l, err
}

// lossSession makes calls one after the other.
type lossSession struct {
	calls []lossCall
}

type lossCall struct {
	*sent
	began, ended time.Time
	failed       bool
}

func (s *lossSession) run(ctx context.Context, tools *client.Client, session string, over *atomic.Bool) {
	for n := 0; !over.Load() && ctx.Err() == nil; n++ {
		c := lossCall{sent: newSent(session, n), began: time.Now()}
		answered := c.sendTo(ctx, tools, ofLoss)
		a := c.last()
		c.ended, c.failed = time.Now(), !answered || a.failure != "" || a.receipt == ""
		s.calls = append(s.calls, c)
		cli.Wait(ctx, betweenCalls)
	}
}
