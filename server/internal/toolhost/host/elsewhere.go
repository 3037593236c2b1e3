package host

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/tool"
)

// elsewherePause is the time between two looks at a call that another toolhost executes.
const elsewherePause = 500 * time.Millisecond

// awaitElsewhere waits until another toolhost does not execute the call any more, and reports
// whether it does not. Otherwise the call has ended: its caller has cancelled it here, which does
// not cancel it there, or its time is over.
func (c *call) awaitElsewhere(there *callstore.Entry) bool {
	c.setDeadline()
	if c.services.await(c.ctx(), there.Key) == nil {
		return true
	}
	c.finishUnexecuted(tool.Outcome{Plugin: c.plugin(), Err: ledger.Elsewhere(there)})
	return false
}

// await waits until no other toolhost executes a call. It returns the error of ctx.
func (s *services) await(ctx context.Context, key ledger.Key) error {
	for {
		// If the store does not answer, to claim the id says so.
		stored, found, err := s.calls.Find(ctx, key)
		if err != nil || !found || stored.Elsewhere == "" {
			return ctx.Err()
		}
		timer := time.NewTimer(elsewherePause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}
