//go:build more

package fleet_test

import (
	"cmp"
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// Three agentds, three toolhosts, their plugins and their database are killed, stopped, cut off and
// restarted at random, while persons decide, write and cancel at any agentd. Each run ends as it
// would without a fault, or with the answer of a person about a call that no tool can check. No
// payment is made twice, each that was said to be made was made, and nothing is left over.
func TestFleet(t *testing.T) {
	w := newWorld(t, script)
	l := newLoad(w, *least)
	t.Logf("-fleet.seed=%d", *seed)
	began := time.Now()
	over, made := began.Add(*lasts), &record{began: began, count: map[string]int{}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var persons, strikers, workers sync.WaitGroup
	l.faulty.Store(true)
	for range 2 {
		persons.Go(func() { l.answer(ctx) }) // ends with ctx
	}
	workers.Go(func() { l.work(t.Context()) })
	others := []*striker{ofAgentds(l, *seed), ofToolhosts(l, *seed), ofPlugins(l, *seed)}
	if withTemporal() {
		others = append(others, ofTemporal(l, *seed))
	}
	for _, s := range others {
		strikers.Go(func() {
			if err := s.strike(t.Context(), over, made); err != nil {
				t.Error(err)
			}
		})
	}
	if err := ofDatabase(l, *seed).strike(t.Context(), over, made); err != nil {
		t.Error(err)
	}
	strikers.Wait()
	l.faulty.Store(false)
	workers.Wait()
	cancel()
	persons.Wait()
	result := l.tally()
	t.Logf("%v\n%s", time.Since(began).Round(time.Second), result.table(made.count))
	for _, line := range made.lines {
		t.Log(line)
	}
	l.endsWithoutWorkflows(t)
	for i, why := range result.wrong {
		if i == 30 {
			t.Errorf("and %d more", len(result.wrong)-i)
			break
		}
		t.Error(why)
	}
}

// sameHost reports whether two addresses are of one host.
func sameHost(a, b string) bool {
	one, _, err := net.SplitHostPort(a)
	other, _, otherErr := net.SplitHostPort(b)
	return cmp.Or(err, otherErr) == nil && one == other
}

// firstError returns the first error, or nil.
func firstError(errs ...error) error { return cmp.Or(errs...) }
