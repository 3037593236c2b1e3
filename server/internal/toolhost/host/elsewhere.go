package host

import (
	"context"
	"errors"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/deadline"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

// The pause between two looks at a call that another toolhost executes doubles from the first to
// the last one.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 2 * time.Second
)

// awaitElsewhere waits until another toolhost does not execute the call any more, and reports
// whether it does not. Otherwise the call has ended: its caller has cancelled it here, which does
// not cancel it there, or its time is over. If the toolhost there is silent then, a check of the
// tool that seals is asked.
func (c *call) awaitElsewhere(there *callstore.Entry) bool {
	c.setDeadline()
	last, err := c.services.await(c.ctx(), there.Key)
	if err == nil {
		return true
	}
	if errors.Is(err, deadline.ErrPassed) && last != nil {
		if settled := c.services.plugins.settler.Seal(last); settled != nil {
			c.finishElsewhere(ledger.StoredOutcome(settled))
			return false
		}
	}
	c.finishElsewhere(tool.Outcome{Plugin: c.plugin(), Err: ledger.StillElsewhere(there, err)})
	return false
}

// yield handles that another toolhost has begun the call since it claimed its id here. It waits for
// the outcome there and ends the call with it. It returns nil if nothing was executed there, so
// that the call may begin here after all; otherwise the call has ended.
func (c *call) yield() error {
	stored, err := c.services.await(c.ctx(), c.entry.Key())
	switch {
	case err == nil && (stored == nil || stored.State == callstore.StateFree && stored.Sum == c.entry.Sum()):
		return nil
	case err == nil && stored.Sum != c.entry.Sum():
		c.finishUnexecuted(tool.Outcome{Plugin: c.plugin(), Err: ledger.Conflict(c.entry.Key())})
	case err == nil:
		c.finishElsewhere(ledger.StoredOutcome(stored))
	case stored != nil:
		c.finishElsewhere(tool.Outcome{Plugin: c.plugin(), Err: ledger.StillElsewhere(stored, err)})
	default:
		c.finishElsewhere(tool.Outcome{Plugin: c.plugin(), Err: ledger.StillElsewhere(&callstore.Entry{Key: c.entry.Key(), Elsewhere: "that has begun it"}, err)})
	}
	return ledger.ErrFinished
}

// await waits until no other toolhost executes a call. It returns what the store last had of the
// call, if anything. It fails if the store cannot be asked, and with the cause of ctx.
func (s *services) await(ctx context.Context, key ledger.Key) (last *callstore.Entry, _ error) {
	s.awaiting.Add(1)
	defer s.awaiting.Add(-1)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		stored, found, err := s.calls.Find(ctx, key)
		switch {
		case ctx.Err() != nil:
			return last, context.Cause(ctx)
		case err != nil:
			return last, err
		case !found:
			return nil, nil
		case stored.Elsewhere == "":
			return &stored, nil
		}
		last = &stored
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return last, context.Cause(ctx)
		}
	}
}
