// Package turns is a queue that is fair to tenants. It does not know what waits, or for what.
package turns

import "slices"

// Queue is a queue of waiting calls or requests. If those of several tenants wait, the tenants take
// turns, and within a tenant the one that has waited longest is next. So a tenant that floods a
// queue delays a call of another tenant by at most one call of each tenant. The zero value is an
// empty queue. It is not safe for concurrent use.
type Queue struct {
	next    []string                   // the tenants with waiting calls, in the order of their turns
	waiting map[string][]chan struct{} // by tenant, the oldest first
}

// Empty reports whether no call waits.
func (q *Queue) Empty() bool { return len(q.next) == 0 }

// Add adds a call of a tenant. Pop closes its channel.
func (q *Queue) Add(tenant string) chan struct{} {
	turn := make(chan struct{})
	if q.waiting == nil {
		q.waiting = map[string][]chan struct{}{}
	}
	if len(q.waiting[tenant]) == 0 {
		q.next = append(q.next, tenant)
	}
	q.waiting[tenant] = append(q.waiting[tenant], turn)
	return turn
}

// Pop removes the call that is next, closes its channel, and returns its tenant. The queue must not
// be empty.
func (q *Queue) Pop() (tenant string) {
	tenant = q.next[0]
	q.next = q.next[1:]
	close(q.waiting[tenant][0])
	if rest := q.waiting[tenant][1:]; len(rest) > 0 {
		q.waiting[tenant], q.next = rest, append(q.next, tenant)
	} else {
		delete(q.waiting, tenant)
	}
	return tenant
}

// Remove removes a call that no longer waits. It returns false if Pop has already removed it.
func (q *Queue) Remove(tenant string, turn chan struct{}) bool {
	i := slices.Index(q.waiting[tenant], turn)
	if i < 0 {
		return false
	}
	if q.waiting[tenant] = slices.Delete(q.waiting[tenant], i, i+1); len(q.waiting[tenant]) == 0 {
		delete(q.waiting, tenant)
		at := slices.Index(q.next, tenant)
		q.next = slices.Delete(q.next, at, at+1)
	}
	return true
}
