package agent

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
)

// DecisionSet is all that one run waits for.
type DecisionSet struct {
	RunID     string
	Owner     string     // for DecisionQuery.Selects
	Decisions []Decision // as ListDecisions returns them; empty: it waits for nothing
}

// ChangedDecisions returns what runs wait for whose decisions changed after a position, and the
// position to go on from. The position runstore.Now returns no runs. More may have changed, unless
// none are returned. query.Size and query.Token are ignored. ErrPosition of package runstore: the
// store does not know the position; begin with ListDecisions, after Now.
func (a *Agent) ChangedDecisions(ctx context.Context, query DecisionQuery, after int64) (sets []DecisionSet, position int64, err error) {
	from := runstore.ChangedQuery{Limit: maxWaiting, After: after}
	switch {
	case len(query.Tenants) == 0:
		from.Owner = query.Principal
	case len(query.Tenants) == 1 && query.Principal == "":
		from.Tenant = query.Tenants[0]
	}
	for {
		changed, position, err := a.store.Changed(ctx, from)
		if err != nil {
			return nil, after, cmp.Or(onlyPosition(err), storeError(err))
		}
		for i := range changed {
			r := &changed[i]
			if !query.Selects(r.ID, r.Head.Owner) {
				continue
			}
			set := DecisionSet{RunID: r.ID, Owner: r.Head.Owner}
			if len(r.Head.Decisions) > 0 {
				if set.Decisions, err = a.decisionsOf(ctx, r); err != nil {
					a.config().Log.With(loglevel.Key, loglevel.Storage).Error("the decisions of a run cannot be read", "run", r.ID, "error", err)
					continue // one broken run does not hide the others
				}
			}
			sets = append(sets, set)
		}
		if from.After = position; len(sets) > 0 || len(changed) < maxWaiting {
			return sets, position, nil
		}
	}
}

// DecisionsChange returns a channel that is closed when an append of this process has changed what
// a run waits for. Other processes write to the store, too.
func (a *Agent) DecisionsChange() <-chan struct{} { return a.decided.next() }

// bell wakes those that wait for the next of some events. The zero value is ready to use. It is
// safe for concurrent use.
type bell struct {
	mu   sync.Mutex
	rung chan struct{} // closed with the next event; nil: no waiter
}

func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung != nil {
		close(b.rung)
		b.rung = nil
	}
}

// onlyPosition returns err if it says that the store does not know a position.
func onlyPosition(err error) error {
	if errors.Is(err, runstore.ErrPosition) {
		return err
	}
	return nil
}
