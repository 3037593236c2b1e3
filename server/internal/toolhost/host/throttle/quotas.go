package throttle

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

// Quota bounds what one tenant or one principal uses. The zero value of each field is no bound.
type Quota struct {
	ConcurrentCalls   int   // calls in progress, also while they wait
	StartsPerMinute   int   // calls that begin in any 60 seconds
	LaunchesPerMinute int   // processes that start in any 60 seconds; of a tenant only
	Processes         int   // processes of plugins, from before their launch until they are gone
	MemoryBytes       int64 // of these processes together; no process starts beyond it
	CallIDs           int   // calls that the ledger on disk remembers
	ArtifactBytes     int64 // of all artifacts together
	ResultBytes       int64 // of the outcomes that the ledger keeps in memory; of a tenant only
}

// Quotas are the quotas of all tenants and principals. The zero value bounds nothing. It must not
// change while a Usage uses it.
type Quotas struct {
	Tenant     Quota            // of each tenant that is not in Tenants
	Principal  Quota            // of each principal that is not in Principals
	Tenants    map[string]Quota // by name
	Principals map[string]Quota // by key
}

// OfTenant returns the quota of a tenant.
func (q *Quotas) OfTenant(name string) Quota {
	if own, ok := q.Tenants[name]; ok {
		return own
	}
	return q.Tenant
}

// OfPrincipal returns the quota of the principal with a key.
func (q *Quotas) OfPrincipal(key string) Quota {
	if own, ok := q.Principals[key]; ok {
		return own
	}
	return q.Principal
}

// finished is when a caller may try again that has too many calls in progress. A call may end at
// any moment.
const finished = time.Second

// Usage counts what tenants and principals use, and refuses what exceeds their quotas. A quota that
// a reload changes applies to the next call. Use NewUsage to make one. It is safe for concurrent
// use.
//
// A full quota of one tenant refuses only calls of that tenant, because each tenant and each
// principal is counted for itself. Counting a call costs two look-ups under one lock.
type Usage struct {
	shares     *Shares // count the starts; nil: starts of usage do
	mu         sync.Mutex
	tenants    map[string]*usage
	principals map[string]*usage
	swept      time.Time // when unused counts were last removed
}

// usage is what one tenant or principal uses.
type usage struct {
	running  int
	starts   window
	launches window
}

// NewUsage returns a Usage that has counted nothing. shares count the starts of calls for many
// toolhosts; nil: the Usage counts its own.
func NewUsage(shares *Shares) *Usage {
	return &Usage{shares: shares, tenants: map[string]*usage{}, principals: map[string]*usage{}}
}

// Begin counts a call of a principal, or returns a rate_limited error that names the full quota and
// says when to try again. The caller must call End when a counted call has ended. With Shares, it
// may wait for them for five seconds, and returns an unavailable error if they do not answer; the
// calls that wait count as calls in progress.
func (u *Usage) Begin(ctx context.Context, q *Quotas, key string) *tool.Error {
	tenant := identity.TenantOf(key)
	ofTenant, ofPrincipal := q.OfTenant(tenant), q.OfPrincipal(key)
	if u.shares == nil {
		return u.begin(key, ofTenant, ofPrincipal)
	}
	// The principal is first: what is taken for a tenant is not available to other toolhosts.
	quotas := []quota{{"principal " + key, ofPrincipal.StartsPerMinute}, {"tenant " + tenant, ofTenant.StartsPerMinute}}
	ofTenant.StartsPerMinute, ofPrincipal.StartsPerMinute = 0, 0
	err := u.begin(key, ofTenant, ofPrincipal)
	if err == nil {
		if err = u.shares.admit(ctx, quotas...); err != nil {
			u.End(key)
		}
	}
	return err
}

func (u *Usage) begin(key string, ofTenant, ofPrincipal Quota) *tool.Error {
	tenant, now := identity.TenantOf(key), time.Now()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sweepLocked(now)
	all, own := of(u.tenants, tenant), of(u.principals, key)
	if err := all.full(now, ofTenant, "tenant "+tenant); err != nil {
		return err
	}
	if err := own.full(now, ofPrincipal, "principal "+key); err != nil {
		return err
	}
	all.begin(now, ofTenant)
	own.begin(now, ofPrincipal)
	return nil
}

// End ends a call that Begin counted.
func (u *Usage) End(key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tenants[identity.TenantOf(key)].running--
	u.principals[key].running--
}

// Launch counts a process that starts for a tenant, or returns a rate_limited error.
func (u *Usage) Launch(q *Quotas, tenant string) *tool.Error {
	limit := q.OfTenant(tenant).LaunchesPerMinute
	if limit == 0 {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	t := of(u.tenants, tenant)
	t.launches.trim(now)
	if wait := t.launches.wait(now, limit); wait > 0 {
		return exceeded(wait, "the tenant %s has started %d processes in the last 60 seconds, which is its quota launches_per_minute", tenant, limit)
	}
	t.launches.starts = append(t.launches.starts, now)
	return nil
}

// of returns the usage of a tenant or principal, and makes it if there is none.
func of(all map[string]*usage, name string) *usage {
	u := all[name]
	if u == nil {
		u = &usage{}
		all[name] = u
	}
	return u
}

// full returns an error if one more call would exceed a quota.
func (u *usage) full(now time.Time, q Quota, who string) *tool.Error {
	if q.ConcurrentCalls > 0 && u.running >= q.ConcurrentCalls {
		return exceeded(finished, "the %s has %d calls in progress, which is its quota concurrent_calls", who, q.ConcurrentCalls)
	}
	if q.StartsPerMinute == 0 {
		return nil
	}
	u.starts.trim(now)
	if wait := u.starts.wait(now, q.StartsPerMinute); wait > 0 {
		return exceeded(wait, "the %s has started %d calls in the last 60 seconds, which is its quota starts_per_minute", who, q.StartsPerMinute)
	}
	return nil
}

func exceeded(wait time.Duration, format string, args ...any) *tool.Error {
	err := tool.Errorf(tool.KindRateLimited, "%s; nothing was executed; try again in %v", fmt.Sprintf(format, args...), wait.Round(time.Millisecond))
	err.RetryAfter = wait
	return err
}

func (u *usage) begin(now time.Time, q Quota) {
	u.running++
	if q.StartsPerMinute > 0 {
		u.starts.starts = append(u.starts.starts, now)
	}
}

// sweepLocked removes the counts of tenants and principals that use nothing. It does so once in a
// rateWindow. Callers choose neither, but an issuer of credentials may have many principals.
func (u *Usage) sweepLocked(now time.Time) {
	if now.Sub(u.swept) < rateWindow {
		return
	}
	u.swept = now
	for _, all := range []map[string]*usage{u.tenants, u.principals} {
		for name, used := range all {
			used.starts.trim(now)
			used.launches.trim(now)
			if used.running == 0 && len(used.starts.starts) == 0 && len(used.launches.starts) == 0 {
				delete(all, name)
			}
		}
	}
}
