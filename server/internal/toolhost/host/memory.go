package host

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/fairness/budget"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/eventlog"
	"github.com/toolhost/toolhost/tool"
)

const (
	// callBytes is what a call takes besides its texts: the call, its lease, and what its event log
	// stores without a reservation.
	callBytes = 8<<10 + eventlog.FreeBytes
	// lightArguments is the size of arguments up to which parsing and checking them takes no memory
	// worth counting.
	lightArguments = 256 << 10
	// formBytes is the most memory that parsed arguments take in addition to their text.
	// arguments.Parse bounds the number of values.
	formBytes = 24 << 20
	// busyRetry is when a caller may try again after it was refused for want of memory.
	busyRetry = time.Second
)

// reservation is the memory that a call has reserved on the account of the connection that made it,
// for the principal of the call (see package budget). The zero value has no account. All methods
// are safe for concurrent use.
//
// A call takes memory for its arguments, for the work on them, for its events and for its result.
// The memory for the arguments and the work is released at the end of the call. The rest stays
// reserved as long as an execution or a watcher follows the call. The ledger may keep the outcome
// longer, within a bound of its own. If there is no room for a caller's arguments, the host refuses
// the call. A result waits for room for a while, because the tool has already done its work.
type reservation struct {
	hold budget.Hold

	mu        sync.Mutex
	followers int
	over      bool // the call has ended: the reservation is only for its followers
}

// workOf returns how much memory parsing and checking arguments of a size takes: their canonical
// form and the values that they contain.
func workOf(size int) int {
	if size <= lightArguments {
		return 0
	}
	return 3*size + min(16*size, formBytes)
}

// open reserves memory for a new call with one follower, on the account that ctx carries. work may
// wait for room; size may not.
func (m *reservation) open(ctx context.Context, request *tool.Call, size, work int) error {
	holdFor(ctx, &m.hold, request)
	m.followers = 1
	if err := m.hold.TryReserve(size); err != nil {
		return err
	}
	if err := m.hold.Reserve(ctx, work); err != nil {
		m.hold.Release()
		return err
	}
	return nil
}

// holdFor makes a hold count for the principal of a call, on the account that ctx carries.
func holdFor(ctx context.Context, h *budget.Hold, request *tool.Call) {
	h.On(budget.FromContext(ctx))
	h.For(request.Principal, request.Via != "")
}

// grow reserves more bytes, and reports whether there was room.
func (m *reservation) grow(bytes int) bool { return m.hold.TryReserve(bytes) == nil }

// end records that the call has ended, and that its followers need size bytes.
func (m *reservation) end(size int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	if m.followers == 0 {
		m.hold.Release()
		return
	}
	m.hold.Shrink(int64(size))
}

// follow adds a follower. It returns false if the call has already released its memory. The
// follower must then reserve memory for the events that it reads.
func (m *reservation) follow() (held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held = m.followers > 0 || !m.over
	m.followers++
	return held
}

func (m *reservation) unfollow() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.followers--
	if m.followers == 0 && m.over {
		m.hold.Release()
	}
}

// reserve reserves memory for a call that begins. If its arguments are complete, it also reserves
// the memory for the work on them.
func (c *call) reserve(ctx context.Context, arguments int, complete bool) error {
	c.events.Account(c.memory.grow)
	work := 0
	if complete {
		work = workOf(arguments)
	}
	if err := c.memory.open(ctx, &c.request, callBytes+c.size()+arguments, work); err != nil {
		return noRoom(err, c.request.ID)
	}
	return nil
}

// noRoom returns the failure of the call with an id for which there is no memory.
func noRoom(err error, callID string) *tool.Error {
	exhausted, ok := errors.AsType[*budget.ExhaustedError](err)
	if !ok {
		e := tool.Errorf(tool.KindCancelled, "the call was given up while it waited for memory: %w; nothing was executed", err)
		e.CallID = callID
		return e
	}
	e := tool.Errorf(tool.KindRateLimited, "%w; nothing was executed; try again when other calls have ended", exhausted)
	e.CallID, e.RetryAfter = callID, busyRetry
	return e
}
