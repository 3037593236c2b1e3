// Package settle asks tools what became of calls whose outcome is unknown, and records what they
// say. It does not decide which outcomes are unknown, and executes no call: a call that did not
// happen gives its id back.
package settle

import (
	"context"
	"sync"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
)

// atOnce is how many tools are asked at the same time after a start.
const atOnce = 4

// Settler asks tools what became of calls whose outcome is unknown. All methods are safe for
// concurrent use.
//
// The problem: if the process of a plugin, or toolhost, ends during a call with side effects,
// toolhost does not know whether the call had its effect, and never executes its id again. The tool
// may be able to find out.
//
// The idea: the store keeps the final arguments of such a call. When a caller asks for the call
// again or watches it, and once after a start, the Settler asks the tool, and records the answer. A
// call that happened gets its outcome. A call that did not happen gives its id back, for one
// execution of the same call, which passes the policy and everything else like a new one.
//
// The invariants: the Settler asks only about a call that the store has as ended, so that no
// process executes it, unless the check seals; about each call one request runs at a time; and no
// caller sees an answer before the audit log and the store have it. If one of them fails, the
// outcome stays unknown.
type Settler struct {
	cfg Config

	mu      sync.Mutex
	running map[ledger.Key]chan struct{} // closed when the answer has taken effect
	barred  map[ledger.Key]bool          // see Bar
}

// New returns a Settler that has asked nothing yet.
func New(cfg Config) *Settler {
	return &Settler{cfg: cfg, running: map[ledger.Key]chan struct{}{}, barred: map[ledger.Key]bool{}}
}

// Enabled reports whether there is a store, without which no outcome can be settled.
func (s *Settler) Enabled() bool { return s.cfg.Calls != nil }

// Bar prevents that the tool of a call is asked as long as this host lives: a plugin may still
// execute the call, because toolhost lost track of it.
func (s *Settler) Bar(key ledger.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.barred[key] = true
}

func (s *Settler) isBarred(key ledger.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.barred[key]
}

// IsUnsettled reports whether a call has an unknown outcome that Settle may change.
func (s *Settler) IsUnsettled(ctx context.Context, key ledger.Key) bool {
	cfg := &s.cfg
	if cfg.Calls == nil || !cfg.Calls.Known(key) || s.isBarred(key) {
		return false
	}
	known, unknown := cfg.Ledger.Known(key)
	if known && !unknown {
		return false
	}
	stored, found, err := cfg.Calls.Find(ctx, key)
	if err != nil || !found {
		return false
	}
	if known && stored.Settled != nil && !stored.Unsettled() {
		return stored.State != callstore.StateBegun // the memory still has the former outcome
	}
	t, settles := cfg.Tool(stored.Tool, stored.Plugin)
	return settles && stored.Unsettled() && (t.Spec.Seals || !stored.SealOnly)
}

// Settle asks the tool of a call, unless it is being asked already, and waits until the answer has
// taken effect or ctx ends.
func (s *Settler) Settle(ctx context.Context, key ledger.Key) {
	select {
	case <-s.begin(key, false):
	case <-ctx.Done():
	}
}

// begin begins to ask, and returns what is closed when the answer has taken effect.
func (s *Settler) begin(key ledger.Key, silent bool) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if answered := s.running[key]; answered != nil {
		return answered
	}
	answered := make(chan struct{})
	check := &check{settler: s, key: key, silent: silent, answered: answered}
	s.running[key] = answered
	// Ends with the bounds of the check, or with the host.
	if !s.cfg.Spawn(func() { defer s.forget(check); check.run() }) {
		delete(s.running, key)
		close(answered)
	}
	return answered
}

// forget records that a request does not run any more. It may be called again.
func (s *Settler) forget(k *check) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[k.key] == k.answered { // otherwise a later request runs
		delete(s.running, k.key)
	}
}

// SettleFound asks about the calls that earlier hosts left, once each.
func (s *Settler) SettleFound() {
	cfg := &s.cfg
	if cfg.Catalog.Settle(cfg.Context) != nil {
		return
	}
	room := make(chan struct{}, atOnce)
	for query := (callstore.Query{Unsettled: true}); ; {
		found, err := cfg.Calls.List(cfg.Context, query)
		if err != nil && cfg.Context.Err() == nil {
			cfg.Log.Storage.Error("calls with an unknown outcome cannot be listed, so their tools are not asked", "error", err)
		}
		if err != nil || len(found) == 0 {
			return
		}
		for i := range found {
			query.Before = found[i].Number
			if _, settles := cfg.Tool(found[i].Tool, found[i].Plugin); !settles {
				continue
			}
			select {
			case room <- struct{}{}:
			case <-cfg.Context.Done():
				return
			}
			answered := s.begin(found[i].Key, false)
			cfg.Spawn(func() { <-answered; <-room }) // ends with the check
		}
	}
}
