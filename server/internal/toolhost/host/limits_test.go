package host_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// starts records when a tool was executed.
type starts struct {
	mu    sync.Mutex
	times []time.Time
}

func (s *starts) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, time.Now())
}

// most returns the largest number of starts in any 60 seconds.
func (s *starts) most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	most, from := 0, 0
	for to := range s.times {
		for s.times[to].Sub(s.times[from]) >= time.Minute {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}

// No more calls start in any 60 seconds than the limit allows, whatever 64 callers do. A caller
// that repeats its call at the time in the error succeeds, so that callers can use up the limit.
func TestRateLimitIsExact(t *testing.T) {
	for _, limit := range []uint32{1, 7, 100} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen starts
				limited := hosttest.Tool{
					Spec: tool.Spec{Name: "limited", Description: "Is called too often.", RateLimitPerMinute: limit},
					Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
						seen.note()
						return tool.TextResult("ok"), nil
					},
				}
				r := newRig(t, []hosttest.Tool{limited}, nil)
				const rounds = 5
				until := time.Now().Add(rounds * time.Minute)
				var succeeded, refused atomic.Uint64
				var callers sync.WaitGroup
				for range 64 {
					callers.Go(func() {
						for time.Now().Before(until) {
							got := outcome(t, r, call("limited", "{}"))
							if got.Err == nil {
								succeeded.Add(1)
								continue
							}
							refused.Add(1)
							if got.Err.Kind != tool.KindRateLimited || got.Err.RetryAfter <= 0 || got.Err.RetryAfter > time.Minute {
								t.Errorf("the call ended with %+v", got.Err)
								return
							}
							time.Sleep(got.Err.RetryAfter)
						}
					})
				}
				callers.Wait()
				if most := seen.most(); most != int(limit) {
					t.Errorf("%d calls started in 60 seconds, want %d", most, limit)
				}
				if got := succeeded.Load(); got < uint64(limit)*rounds {
					t.Errorf("%d calls in %d minutes: the limit of %d was not used", got, rounds, limit)
				}
				stats, err := r.Stats(t.Context(), tool.StatsQuery{})
				if err != nil || len(stats) != 1 || stats[0].Succeeded != succeeded.Load() ||
					stats[0].Failures[tool.KindRateLimited] != refused.Load() || stats[0].Calls != succeeded.Load()+refused.Load() {
					t.Errorf("statistics %+v, %v; %d succeeded, %d were refused", stats, err, succeeded.Load(), refused.Load())
				}
			})
		})
	}
}

// A session does not use up the limit of another session, and a principal not that of another
// principal.
func TestRateLimitIsPerSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := hosttest.Tool{
			Spec: tool.Spec{Name: "limited", Description: "Is called once.", RateLimitPerMinute: 1},
			Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
				return tool.TextResult("ok"), nil
			},
		}
		r := newRig(t, []hosttest.Tool{limited}, nil)
		for _, who := range []tool.Call{{}, {Session: "s"}, {Principal: "uid:7"}, {Principal: "uid:7", Session: "s"}} {
			c := call("limited", "{}")
			c.Session, c.Principal = who.Session, who.Principal
			if got := outcome(t, r, c); got.Err != nil {
				t.Errorf("the first call of %+v: %v", who, got.Err)
			}
			if got := outcome(t, r, c); got.Err == nil || got.Err.Kind != tool.KindRateLimited {
				t.Errorf("the second call of %+v ended with %+v", who, got)
			}
		}
		time.Sleep(time.Minute) // virtual
		if got := outcome(t, r, call("limited", "{}")); got.Err != nil {
			t.Errorf("a minute later: %v", got.Err)
		}
	})
}

// The operator limits the calls of an agent, whatever sessions it uses. Calls without an agent are
// not limited.
func TestRateLimitOfAnAgent(t *testing.T) {
	counted := hosttest.Tool{
		Spec: tool.Spec{Name: "counted", Description: "Counts.", ReadOnly: true},
		Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
			return tool.TextResult("ok"), nil
		},
	}
	r := newRig(t, []hosttest.Tool{counted}, func(c *host.Config) {
		c.Catalog.Configure(catalog.Overrides{"counted": {AgentRates: catalog.AgentRates{Each: new(1), Of: map[string]int{"busy": 2, "free": 0}}}}, 0)
	})
	for agent, limit := range map[string]int{"other": 1, "busy": 2, "free": 9, "": 9} {
		started := 0
		for i := range 9 {
			got := outcome(t, r, tool.Call{Tool: "counted", Arguments: []byte("{}"), Principal: "p", Session: fmt.Sprint("s", i), Agent: agent})
			if got.Err == nil {
				started++
			} else if got.Err.Kind != tool.KindRateLimited || !strings.Contains(got.Err.Message, "of the agent "+agent) {
				t.Errorf("agent %q: %v", agent, got.Err)
			}
		}
		if started != limit {
			t.Errorf("agent %q: %d calls started, want %d", agent, started, limit)
		}
	}
}

// At most as many calls of the tool run at the same time as the limit allows. Others wait in order,
// up to their deadlines.
func TestMaxConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		slow := hosttest.Tool{
			Spec: tool.Spec{Name: "slow", Description: "Takes a second."},
			Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
				n := now.Add(1)
				defer now.Add(-1)
				for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
				}
				time.Sleep(time.Second) // virtual
				return tool.TextResult("ok"), nil
			},
		}
		r := newRig(t, []hosttest.Tool{slow}, func(c *host.Config) {
			c.Catalog.Configure(catalog.Overrides{"slow": {MaxConcurrent: new(3)}}, 0)
		})
		began := time.Now()
		var callers sync.WaitGroup
		for range 12 {
			callers.Go(func() {
				if got := outcome(t, r, call("slow", "{}")); got.Err != nil {
					t.Errorf("the call ended with %v", got.Err)
				}
			})
		}
		synctest.Wait()
		hasty := call("slow", "{}")
		hasty.Timeout = time.Second
		if got := outcome(t, r, hasty); got.Err == nil || got.Err.Kind != tool.KindTimeout {
			t.Errorf("who could not wait got %+v", got)
		}
		callers.Wait()
		if most.Load() != 3 || time.Since(began) != 4*time.Second {
			t.Errorf("%d calls ran at the same time, want 3; it took %v, want 4s", most.Load(), time.Since(began))
		}
	})
}
