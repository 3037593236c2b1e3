package host

import (
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/shares"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxRecent bounds how many ended calls recentCalls has.
	maxRecent = 1000
	// recentAge is how long recentCalls has a call.
	recentAge = 15 * time.Minute
	// maxFailedPerSecond bounds how many calls of a tenant that failed in one second with one kind of
	// error the history gets. A caller that repeats a refused call in a loop must not fill the disk,
	// and must not hide the calls that a crash ended.
	maxFailedPerSecond = 50
	// allFailedPerSecond is the same for all tenants together.
	allFailedPerSecond = 10 * maxFailedPerSecond
	// maxRecentMessage is the length to which the message of an error is cut, in bytes.
	maxRecentMessage = 1024
)

// recentCalls has the calls that ended and that the ledger does not remember: those without an id
// of their caller, and those that no plugin executed. Operators list them. If there are too many,
// the tenant with the most of them loses its oldest one, so that one tenant cannot hide the calls
// of another.
//
// It also chooses the calls for the history, so that operators can list failed calls later and
// after a restart. The history gets each failed call that the ledger does not have on disk. These
// are the failed calls of recentCalls, and those with an id of their caller and without side
// effects, which the ledger has in memory only. recentCalls is safe for concurrent use.
type recentCalls struct {
	mu     sync.Mutex
	calls  map[string]*records // by tenant
	counts shares.Shares       // of the tenants
	count  int                 // of all calls

	second    time.Time          // in which failed calls were counted last
	failed    map[failedKind]int // in that second
	allFailed int                // likewise
}

// failedKind is what failed calls are counted by.
type failedKind struct {
	tenant string
	kind   tool.Kind
}

// add adds a call that has ended, and stores it if it failed.
func (r *recentCalls) add(c tool.CallRecord, log *history.Log) {
	c = withShortError(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	tenant := identity.TenantOf(c.Principal)
	if r.calls == nil {
		r.calls = map[string]*records{}
	}
	of := r.calls[tenant]
	if of == nil {
		of = &records{}
		r.calls[tenant] = of
	}
	of.push(c)
	r.counts.Add(tenant, 1)
	if r.count++; r.count > maxRecent {
		r.dropLocked(r.counts.Largest())
	}
	r.storeLocked(c, log)
}

// dropLocked forgets the oldest call of a tenant.
func (r *recentCalls) dropLocked(tenant string) {
	r.count--
	r.counts.Add(tenant, -1)
	of := r.calls[tenant]
	if of.pop(); of.count == 0 {
		delete(r.calls, tenant)
	}
}

// records is a queue of calls.
type records struct {
	ring  []tool.CallRecord
	first int // the index of the oldest call
	count int
}

func (q *records) push(c tool.CallRecord) {
	if q.count == len(q.ring) {
		grown := make([]tool.CallRecord, max(2*len(q.ring), 8))
		for i := range q.count {
			grown[i] = *q.at(i)
		}
		q.ring, q.first = grown, 0
	}
	q.count++
	*q.at(q.count - 1) = c
}

// pop removes the oldest call. The queue must not be empty.
func (q *records) pop() {
	*q.at(0) = tool.CallRecord{}
	q.first = (q.first + 1) % len(q.ring)
	q.count--
}

// at returns the i-th call, the oldest first.
func (q *records) at(i int) *tool.CallRecord { return &q.ring[(q.first+i)%len(q.ring)] }

// store appends a call to the history if it failed, and if not too many others have failed just
// now.
func (r *recentCalls) store(c tool.CallRecord, log *history.Log) {
	c = withShortError(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.storeLocked(c, log)
}

func (r *recentCalls) storeLocked(c tool.CallRecord, log *history.Log) {
	if c.Err != nil && log != nil && r.mayStoreLocked(failedKind{identity.TenantOf(c.Principal), c.Err.Kind}, c.EndTime) {
		stored := c // c itself does not escape, which saves successful calls an allocation
		log.Append(history.Entry{Call: &stored})
	}
}

// withShortError returns the record without the details of its error, which may be large.
func withShortError(c tool.CallRecord) tool.CallRecord {
	if c.Err != nil {
		c.Err = &tool.Error{
			Kind: c.Err.Kind, Message: c.Err.Message[:min(len(c.Err.Message), maxRecentMessage)],
			CallID: c.CallID, Plugin: c.Plugin, Instance: c.Instance,
		}
	}
	return c
}

func (r *recentCalls) mayStoreLocked(kind failedKind, now time.Time) bool {
	if now.Sub(r.second) >= time.Second || now.Before(r.second) {
		r.second, r.failed, r.allFailed = now, map[failedKind]int{}, 0
	}
	if r.failed[kind] >= maxFailedPerSecond || r.allFailed >= allFailedPerSecond {
		return false
	}
	r.failed[kind]++
	r.allFailed++
	return true
}

// all returns the calls, in no order.
func (r *recentCalls) all(now time.Time) []tool.CallRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	var calls []tool.CallRecord
	for _, of := range r.calls {
		for i := range of.count {
			if c := of.at(i); now.Sub(c.EndTime) < recentAge {
				calls = append(calls, *c)
			}
		}
	}
	return calls
}
