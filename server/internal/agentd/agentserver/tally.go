package agentserver

import "sync"

// tally counts the bytes that agentd holds for each principal, up to a bound. All methods are safe
// for concurrent use.
type tally struct {
	most int64

	mu   sync.Mutex
	held map[string]int64 // by the key of the principal
}

func newTally(most int64) *tally { return &tally{most: most, held: map[string]int64{}} }

// take counts bytes for a principal. It returns false, and how many are held, if there are too
// many. A principal that holds none may take any number.
func (t *tally) take(principal string, n int64) (held int64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if held = t.held[principal]; held > 0 && held+n > t.most {
		return held, false
	}
	t.held[principal] += n
	return held + n, true
}

func (t *tally) give(principal string, n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held[principal] -= n; t.held[principal] <= 0 {
		delete(t.held, principal)
	}
}
