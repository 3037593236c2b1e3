package throttle

import "slices"

// turns is a queue of waiting calls. It is fair to tenants: if calls of several tenants wait, the
// tenants take turns, and within a tenant the call that has waited longest is next. So a tenant
// that floods a queue delays a call of another tenant by at most one call of each tenant. The zero
// value is an empty queue. It is not safe for concurrent use.
type turns struct {
	next    []string                   // the tenants with waiting calls, in the order of their turns
	waiting map[string][]chan struct{} // by tenant, the oldest first
}

// empty reports whether no call waits.
func (t *turns) empty() bool { return len(t.next) == 0 }

// add adds a call of a tenant. pop closes its channel.
func (t *turns) add(tenant string) chan struct{} {
	turn := make(chan struct{})
	if t.waiting == nil {
		t.waiting = map[string][]chan struct{}{}
	}
	if len(t.waiting[tenant]) == 0 {
		t.next = append(t.next, tenant)
	}
	t.waiting[tenant] = append(t.waiting[tenant], turn)
	return turn
}

// pop removes the call that is next, closes its channel, and returns its tenant. The queue must not
// be empty.
func (t *turns) pop() (tenant string) {
	tenant = t.next[0]
	t.next = t.next[1:]
	close(t.waiting[tenant][0])
	if rest := t.waiting[tenant][1:]; len(rest) > 0 {
		t.waiting[tenant], t.next = rest, append(t.next, tenant)
	} else {
		delete(t.waiting, tenant)
	}
	return tenant
}

// remove removes a call that no longer waits. It returns false if pop has already removed it.
func (t *turns) remove(tenant string, turn chan struct{}) bool {
	i := slices.Index(t.waiting[tenant], turn)
	if i < 0 {
		return false
	}
	if t.waiting[tenant] = slices.Delete(t.waiting[tenant], i, i+1); len(t.waiting[tenant]) == 0 {
		delete(t.waiting, tenant)
		at := slices.Index(t.next, tenant)
		t.next = slices.Delete(t.next, at, at+1)
	}
	return true
}
