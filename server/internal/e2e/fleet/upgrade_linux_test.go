//go:build more

package fleet_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// Three toolhosts and three agentds without the last migrations are replaced with those of today in
// turn, and one of each with an older one again, while runs are at work. No call fails or has an
// unknown outcome, and each run ends as it would without an upgrade.
func TestUpgradeOfAll(t *testing.T) {
	if err := programs.BuildOlder(t.Context(), filepath.Join(bin, "older"), "./cmd/toolhost", "./cmd/agentd"); err != nil {
		t.Fatal(err)
	}
	w := newWorldOf(t, script, true)
	l := newLoad(w, 20)
	steps := func() string {
		return w.count(w.journal, "SELECT version FROM toolhost_layouts WHERE name = 'agentd runs'") + " " +
			w.count(w.ledger, "SELECT version FROM toolhost_layouts WHERE name = 'toolhost calls'")
	}
	before := steps()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var persons, workers sync.WaitGroup
	l.faulty.Store(true) // new runs begin until all is done
	for range 2 {
		persons.Go(func() { l.answer(ctx) }) // ends with ctx
	}
	workers.Go(func() { l.work(t.Context()) })
	replace := func(s *server, older bool) {
		for before := w.bank.payments(); w.bank.payments() < before+10; {
			if wait(t.Context(), again); t.Context().Err() != nil {
				t.Fatal("no run makes progress")
			}
		}
		if code := s.stop(); code != 0 {
			t.Errorf("%s ended with the exit code %d", s.name, code)
		}
		s.older = older
		if err := s.start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range w.servers() {
		replace(s, false)
	}
	if after := steps(); after == before {
		t.Errorf("the tables have the versions %s before and after the upgrade", after)
	}
	replace(w.toolhosts[0], true)
	replace(w.agentds[0], true)
	l.faulty.Store(false)
	workers.Wait()
	cancel()
	persons.Wait()
	result := l.tally()
	t.Logf("\n%s", result.table(nil))
	if result.questions > 0 {
		t.Errorf("persons were asked %d times what became of a call", result.questions)
	}
	for _, why := range result.wrong {
		t.Error(why)
	}
}
