package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// The store counts attachments with the append that writes them. Between the check of a quota and
// the append, another request of the tenant could pass the same check. So the requests of a tenant
// whose attachments count for a quota take turns: each one holds the turn from its last check until
// its append has succeeded or failed. Reading an artifact, which may be slow, comes before the
// turn.
//
// Other agentds with the same journal have turns of their own. Two of them can exceed a quota by
// what one of them admits at a time.

// turns are the turns of all tenants. The zero value is ready for use. All methods are safe for
// concurrent use.
type turns struct {
	mu sync.Mutex
	of map[string]*turn // of the tenants with requests
}

type turn struct {
	held     chan struct{} // capacity 1; full: a request has the turn
	requests int           // that have it or wait for it; guarded by turns.mu
}

// take waits for the turn of a tenant. The caller must call free once.
func (t *turns) take(ctx context.Context, tenant string) (free func(), err error) {
	t.mu.Lock()
	at := t.of[tenant]
	if at == nil {
		at = &turn{held: make(chan struct{}, 1)}
		if t.of == nil {
			t.of = make(map[string]*turn)
		}
		t.of[tenant] = at
	}
	at.requests++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if at.requests--; at.requests == 0 {
			delete(t.of, tenant)
		}
	}
	select {
	case at.held <- struct{}{}:
		return func() { <-at.held; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, tool.AsError(context.Cause(ctx))
	}
}

// admitAttached takes the turn of a principal's tenant and returns an error if a quota has no room
// for more bytes. The caller must call free once when the store has counted the bytes, or will not.
func (a *Agent) admitAttached(ctx context.Context, principal string, more int64) (free func(), err error) {
	if !a.limitsAttached(principal) {
		return func() {}, nil
	}
	free, err = a.turns.take(ctx, identity.TenantOf(principal))
	if err != nil {
		return nil, err
	}
	if err := a.checkAttached(ctx, principal, more); err != nil {
		free()
		return nil, err
	}
	return free, nil
}

// limitsAttached reports whether a quota bounds what a principal attaches.
func (a *Agent) limitsAttached(principal string) bool {
	if _, ok := a.store.(runstore.Spending); !ok {
		return false
	}
	holders := a.config().Quotas.holders(principal)
	return holders[0].AttachedPerDay > 0 || holders[1].AttachedPerDay > 0
}

// checkAttached returns an error if the quota of attachments of a principal or its tenant has no
// room for more bytes: a KindRateLimited if it has room on another day, otherwise a
// KindInvalidArgument.
func (a *Agent) checkAttached(ctx context.Context, principal string, more int64) error {
	if !a.limitsAttached(principal) {
		return nil
	}
	ledger, now := a.store.(runstore.Spending), time.Now()
	for _, h := range a.config().Quotas.holders(principal) {
		if h.AttachedPerDay == 0 {
			continue
		}
		if more > h.AttachedPerDay {
			return tool.Errorf(tool.KindInvalidArgument, "the attachments have %d bytes, and the quota of %s is %d bytes per day (UTC); attach less", more, h.name, h.AttachedPerDay)
		}
		spent, err := ledger.Spent(ctx, runstore.Day(now), h.spends)
		if err != nil {
			return storeError(err)
		}
		if spent.Attached+more > h.AttachedPerDay {
			return full(h, fmt.Sprintf("attached %d bytes today, and these are %d", spent.Attached, more), fmt.Sprint(h.AttachedPerDay, " bytes per day (UTC)"), leftOf(now))
		}
	}
	return nil
}
