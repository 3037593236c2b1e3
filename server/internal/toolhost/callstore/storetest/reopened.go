package storetest

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// testHistories checks a store with one node at a time, which is closed and opened again in the
// middle.
func testHistories(t *testing.T, h Harness) {
	seed := rand.Uint64()
	Histories(t, "h", seed, &reopened{harness: h, store: h.New(t, Config{})})
}

// reopened is a Cluster of one store, which is another node after each time that it is opened.
type reopened struct {
	harness Harness

	mu    sync.Mutex
	store Store
	node  int
}

// Node implements Cluster.
func (r *reopened) Node(*rand.Rand) (callstore.Calls, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.store, r.node
}

// Fault implements Cluster. It opens the store again.
func (r *reopened) Fault(t testing.TB, _ *rand.Rand, gone func(node int, do func() (certain bool))) {
	before, node := r.Node(nil)
	gone(node, func() bool {
		after := r.harness.Reopen(t, before.(Store))
		r.mu.Lock()
		defer r.mu.Unlock()
		r.store, r.node = after, node+1
		return true
	})
}

// Gone implements Cluster. A store that was opened again is closed before.
func (r *reopened) Gone() error { return nil }
