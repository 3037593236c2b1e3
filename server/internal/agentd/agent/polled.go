package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// polled waits for changes that other agents make, which only the store shows. One goroutine asks
// the store for all waiters together. It belongs to the agent, and ends with the last waiter or
// with the agent. It is safe for concurrent use.
type polled[K comparable, V any] struct {
	agent *Agent
	pause time.Duration // between two questions
	// find returns the answers that there are.
	find func(ctx context.Context, wanted []K) (map[K]V, error)

	mu      sync.Mutex
	asking  bool
	waiting map[K][]chan V // each has capacity 1
}

func newPolled[K comparable, V any](a *Agent, pause time.Duration, find func(context.Context, []K) (map[K]V, error)) *polled[K, V] {
	return &polled[K, V]{agent: a, pause: pause, find: find, waiting: make(map[K][]chan V)}
}

// await waits for the answer for a key. await first registers the waiter, so that no later answer
// is missed, and then calls unless. If unless returns true, await returns the zero value at once. A
// nil unless counts as false.
func (p *polled[K, V]) await(ctx context.Context, key K, unless func() bool) (none V, err error) {
	answer := make(chan V, 1)
	if err := p.add(key, answer); err != nil {
		return none, err
	}
	if unless == nil || !unless() {
		select {
		case found := <-answer:
			return found, nil
		case <-p.agent.ctx.Done():
			return none, errClosed()
		case <-ctx.Done():
			err = tool.AsError(ctx.Err())
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[key] = slices.DeleteFunc(p.waiting[key], func(c chan V) bool { return c == answer })
	if len(p.waiting[key]) == 0 {
		delete(p.waiting, key)
	}
	return none, err
}

func (p *polled[K, V]) add(key K, answer chan V) error {
	w := &p.agent.work
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[key] = append(p.waiting[key], answer)
	if !p.asking {
		p.asking = true
		w.group.Go(p.ask) // ends with the last waiter, or with the agent
	}
	return nil
}

func (p *polled[K, V]) ask() {
	for sleep(p.agent.ctx, p.pause) == nil {
		wanted := p.wanted()
		if len(wanted) == 0 {
			return
		}
		// An error is not passed on. While the database is gone, each caller waits until its own ctx
		// ends.
		found, _ := p.find(p.agent.ctx, wanted)
		p.tell(found)
	}
}

// wanted returns the keys that are waited for. If there is none, the goroutine has to end.
func (p *polled[K, V]) wanted() (keys []K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key := range p.waiting {
		keys = append(keys, key)
	}
	p.asking = len(keys) > 0
	return keys
}

func (p *polled[K, V]) tell(found map[K]V) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, value := range found {
		for _, answer := range p.waiting[key] {
			answer <- value
		}
		delete(p.waiting, key)
	}
}

// wake gives the waiters for the keys that match the zero value.
func (p *polled[K, V]) wake(matches func(K) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, answers := range p.waiting {
		if !matches(key) {
			continue
		}
		var none V
		for _, answer := range answers {
			answer <- none
		}
		delete(p.waiting, key)
	}
}
