package pace

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// together is how long two tenants count as calling at the same time after a call of the second
	// one.
	together = time.Second
	// period is the time over which the pieces of tenants are compared.
	period = 250 * time.Millisecond
)

// results is the pause for results of tools. A result advances by 6 MiB per second at least.
var results = Pause{Times: 4, Longest: 10 * time.Millisecond}

// Tenants makes the tenant that carries most of the large results give way to the calls of others.
// While only one tenant calls, nothing gives way. The zero value knows no tenant. All methods are
// safe for concurrent use.
type Tenants struct {
	last  atomic.Pointer[string] // the tenant of the last call
	until atomic.Int64           // until when several tenants call, in nanoseconds since 1970

	mu     sync.Mutex
	began  time.Time // of the current period
	pieces map[string]int
	all    int // the sum of pieces
}

// Called records a call of a tenant. If the previous call was of the same tenant, it costs a
// comparison.
func (t *Tenants) Called(tenant string) {
	last := t.last.Load()
	if last != nil && *last == tenant {
		return
	}
	seen := tenant // so that only this path allocates
	t.last.Store(&seen)
	if last != nil {
		t.until.Store(time.Now().Add(together).UnixNano())
	}
}

// Carried records a Piece of the results of a tenant. It blocks for a short time if other tenants
// call, the tenant had at least an equal share of the pieces of the last moments, and other work of
// the process is queued.
func (t *Tenants) Carried(tenant string) {
	now := time.Now()
	if most := t.count(tenant, now); most && now.UnixNano() < t.until.Load() {
		GiveWay(results)
	}
}

// count counts a piece, and reports whether the tenant has at least an equal share.
func (t *Tenants) count(tenant string, now time.Time) (most bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pieces == nil || now.Sub(t.began) >= period {
		t.began, t.all, t.pieces = now, 0, map[string]int{}
	}
	t.pieces[tenant]++
	t.all++
	return t.pieces[tenant]*len(t.pieces) >= t.all
}
