package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// holder is a tenant or a principal with its quota.
type holder struct {
	Quota
	name   string            // for messages
	spends runstore.Query    // selects its runs, and is their key in atWork.working
	owns   func(string) bool // whether a run of a principal counts
}

func (q *Quotas) holders(principal string) [2]holder {
	tenant := identity.TenantOf(principal)
	return [2]holder{
		{
			q.Principals[principal].or(q.Principal), "the principal " + principal, runstore.Query{Owner: principal},
			func(key string) bool { return key == principal },
		},
		{
			q.Tenants[tenant].or(q.Tenant), "the tenant " + tenant, runstore.Query{Tenant: tenant},
			func(key string) bool { return identity.TenantOf(key) == tenant },
		},
	}
}

// starts counts the runs of the last minute. The times of a principal are dropped with the first
// start after they are too old, so that the memory is bounded by the starts of one minute.
type starts struct {
	mu    sync.Mutex
	times []startTime // in order
}

type startTime struct {
	at        time.Time
	principal string
}

// admit returns an error if a quota of starts is full, and otherwise counts a start.
func (s *starts) admit(principal string, quotas *Quotas, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.times) > 0 && now.Sub(s.times[0].at) >= time.Minute {
		s.times = s.times[1:]
	}
	limited := false
	for _, h := range quotas.holders(principal) {
		limited = limited || h.StartsPerMinute > 0
		n, first := 0, time.Time{}
		for _, t := range s.times {
			if h.owns(t.principal) {
				if n++; n == 1 {
					first = t.at
				}
			}
		}
		if h.StartsPerMinute > 0 && n >= h.StartsPerMinute {
			return full(h, fmt.Sprintf("started %d runs in the last minute", n), fmt.Sprint(h.StartsPerMinute, " starts in a minute"), first.Add(time.Minute).Sub(now))
		}
	}
	if limited {
		s.times = append(s.times, startTime{now, principal})
	}
	return nil
}

func full(h holder, used, quota string, wait time.Duration) error {
	e := tool.Errorf(tool.KindRateLimited, "%s has %s, and its quota is %s; try again in %s", h.name, used, quota, wait.Round(time.Second))
	e.RetryAfter = wait
	return e
}

// admitWork returns an error if a principal may not begin more work: a quota of runs at work, or of
// what models and tools cost in a day, is full.
func (a *Agent) admitWork(ctx context.Context, principal string) error {
	for _, h := range a.config().Quotas.holders(principal) {
		if h.Runs == 0 {
			continue
		}
		if n := a.work.workingOf(h.spends); n >= h.Runs {
			return full(h, fmt.Sprintf("%d runs at work", n), fmt.Sprint(h.Runs), time.Second)
		}
	}
	_, err := a.unspent(ctx, principal)
	return err
}

// unspent returns an error if a principal or its tenant has spent its tokens or its money of the
// day, and how a run has to end then.
func (a *Agent) unspent(ctx context.Context, principal string) (loop.StopReason, error) {
	ledger, ok := a.store.(runstore.Spending)
	if !ok {
		return "", nil
	}
	now := time.Now()
	left := leftOf(now)
	for _, h := range a.config().Quotas.holders(principal) {
		if h.TokensPerDay == 0 && h.CostPerDay == 0 {
			continue
		}
		spent, err := ledger.Spent(ctx, runstore.Day(now), h.spends)
		switch {
		case err != nil:
			return loop.StopInternalError, storeError(err)
		case h.TokensPerDay > 0 && spent.Tokens >= h.TokensPerDay:
			return loop.StopTokenBudget, full(h, fmt.Sprintf("used %d tokens today", spent.Tokens), fmt.Sprint(h.TokensPerDay, " tokens per day (UTC)"), left)
		case h.CostPerDay > 0 && spent.Cost >= h.CostPerDay:
			return loop.StopCostBudget, full(h, fmt.Sprintf("spent %.4g today", spent.Cost), fmt.Sprintf("%.4g per day (UTC)", h.CostPerDay), left)
		}
	}
	return "", nil
}

// leftOf returns the time until the day in UTC ends.
func leftOf(now time.Time) time.Duration {
	return time.Duration(runstore.Day(now)+1)*24*time.Hour - time.Duration(now.UnixNano())
}

// spentBy returns what an event says that models and tools used, and what it attaches. What a
// sub-run used is in its own journal.
func spentBy(p loop.Payload) (s runstore.Spent) {
	add := func(u tool.Usage, cost float64) {
		s.Tokens, s.Cost = s.Tokens+int64(u.InputTokens+u.OutputTokens), s.Cost+cost
	}
	switch p := p.(type) {
	case *loop.UserMessage:
		s.Attached = loop.AttachedBytes(p.Attachments)
	case *loop.AssistantMessage:
		add(p.Usage.Add(p.Wasted), p.Cost)
	case *loop.Compacted:
		add(p.Usage, p.Cost)
	case *loop.ModelReplied:
		add(p.Usage, p.Cost)
	case *loop.CallResult:
		if p.Tool != loop.SystemNewTask || p.Plugin != "" {
			add(p.Result.Usage, p.Result.Cost)
		}
	}
	return s
}
