package agentserver

import (
	"context"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

const (
	// betweenLooks is the pause between two looks at the changes of the store, which another process
	// may have written.
	betweenLooks = time.Second
	// leastPause is the least pause, after a change of this process. Changes that come together are
	// read and sent together.
	leastPause = 50 * time.Millisecond
	// maxFed bounds the texts that a feed keeps. It holds what ten thousand usual runs wait for.
	maxFed = 16 << 20
)

// feeds has the feed that all watches of a server share, while there are some.
type feeds struct {
	agent Lookup

	mu      sync.Mutex
	current *feed
}

// join returns the feed for one more watch. The caller calls leave.
func (s *feeds) join() *feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == nil || s.current.failed() {
		ctx, cancel := context.WithCancel(context.Background())
		s.current = &feed{agent: s.agent, cancel: cancel, over: make(chan struct{}), reached: runstore.Now, news: make(chan struct{}), byRun: map[string]*fed{}}
		go s.current.run(ctx) // ends when the last watch leaves, which waits for it
	}
	s.current.watches++
	return s.current
}

// drop makes later watches begin another feed, because this one is of another store.
func (s *feeds) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current = nil
}

func (s *feeds) leave(f *feed) {
	s.mu.Lock()
	f.watches--
	last := f.watches == 0
	if last && s.current == f {
		s.current = nil
	}
	s.mu.Unlock()
	if last {
		f.cancel()
		<-f.over
	}
}

// feed reads what runs wait for when it changes, once for all watches. It keeps the last state of
// each run that has changed, up to a number of bytes, and nothing for a watch: that has a place in
// the feed, and what it misses is replaced by what is true later. A watch whose place is before all
// that the feed keeps reads the store itself until it has come up.
//
// The invariant: a place never passes a state that the watch has not got, unless a later one of the
// same run follows.
type feed struct {
	agent   Lookup
	watches int // guarded by feeds.mu
	cancel  context.CancelFunc
	over    chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	err     error         // why the feed has ended; nil: it goes on
	news    chan struct{} // closed with the next news
	reached int64         // the position up to which the feed has read; Now: it has not begun
	states  []*fed        // in the order in which they were read
	byRun   map[string]*fed
	count   uint64 // of all states ever
	size    int    // of the texts
	// The feed has all states after a position, and after a number.
	lostAt     int64
	lostNumber uint64
}

// fed is the state of a run in a feed.
type fed struct {
	set      *agent.DecisionSet // nil: a later state has replaced it
	number   uint64             // from 1
	position int64              // of the read
	size     int
}

// place is a place of a watch in a feed.
type place struct {
	position int64  // what the watch knows
	number   uint64 // of the last state after position that it has got; 0: none of this feed
}

// run reads until ctx ends, or the store fails.
func (f *feed) run(ctx context.Context) {
	defer close(f.over)
	for {
		changed, began := f.agent.DecisionsChange(), time.Now()
		if err := f.look(ctx); err != nil {
			f.fail(err)
			return
		}
		select {
		case <-changed:
		case <-time.After(betweenLooks):
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(leastPause - time.Since(began)):
		case <-ctx.Done():
			return
		}
	}
}

// look reads what has changed. Only the goroutine of the feed writes reached.
func (f *feed) look(ctx context.Context) error {
	for {
		sets, now, err := f.agent.ChangedDecisions(ctx, agent.DecisionQuery{}, f.reached)
		if err != nil {
			return restored(err)
		}
		f.add(sets, now)
		if len(sets) == 0 {
			return nil
		}
	}
}

func (f *feed) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	close(f.news)
}

func (f *feed) failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err != nil
}

// add adds the states of a page, which ends at a position.
func (f *feed) add(sets []agent.DecisionSet, position int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reached == runstore.Now {
		f.lostAt = position
	} else if len(sets) == 0 {
		f.reached = position
		return
	}
	for i := range sets {
		f.count++
		s := &fed{&sets[i], f.count, position, sizeOf(&sets[i])}
		if old := f.byRun[s.set.RunID]; old != nil {
			f.size -= old.size
			old.set = nil
		}
		f.byRun[s.set.RunID] = s
		f.states, f.size = append(f.states, s), f.size+s.size
	}
	for f.size > maxFed {
		if oldest := f.states[0]; oldest.set != nil {
			delete(f.byRun, oldest.set.RunID)
			f.size, f.lostAt, f.lostNumber = f.size-oldest.size, oldest.position, oldest.number
		}
		f.states = f.states[1:]
	}
	if len(f.states) > 2*len(f.byRun) {
		f.states = slices.DeleteFunc(f.states, func(s *fed) bool { return s.set == nil })
	}
	f.reached = position
	close(f.news)
	f.news = make(chan struct{})
}

func sizeOf(set *agent.DecisionSet) int {
	n := 512
	for i := range set.Decisions {
		d := &set.Decisions[i]
		n += 1024 + len(d.Arguments) + len(d.Reason)
		for _, option := range d.Options {
			n += len(option)
		}
	}
	return n
}

// next returns the first state after a place, and moves the place. If there is none, set is nil,
// and news is closed when there may be one. Both are nil if the feed does not have all that
// follows: the watch reads the store, moves its position, and calls next again.
func (f *feed) next(at *place) (set *agent.DecisionSet, news <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.err != nil:
		return nil, nil, f.err
	case f.reached == runstore.Now:
		return nil, f.news, nil
	case at.number < f.lostNumber || at.number == 0:
		if at.number = 0; at.position < f.lostAt {
			return nil, nil, nil
		}
	}
	i := sort.Search(len(f.states), func(i int) bool {
		return f.states[i].number > at.number && f.states[i].position > at.position
	})
	for ; i < len(f.states); i++ {
		if s := f.states[i]; s.set != nil {
			at.number = s.number
			return s.set, nil, nil
		}
	}
	at.position, at.number = max(at.position, f.reached), f.count
	return nil, f.news, nil
}
