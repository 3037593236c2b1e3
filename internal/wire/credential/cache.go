package credential

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// earliest is the shortest time between two looks at the source, so that a token that is
	// always about to expire does not start a command for each RPC.
	earliest = time.Second
	// maxMargin is how long before its expiry a token is renewed at the latest. It covers the time
	// until the RPC reaches the server, and a difference of the clocks. Tokens that live for less
	// than marginShare times as long are renewed earlier in proportion.
	maxMargin   = time.Minute
	marginShare = 5
)

// Cache holds the current token of a source and renews it.
//
// Several RPCs may need a new token at the same time. One fetch serves all of them. It runs in a
// goroutine of the cache and not on the context of one RPC, so the cancellation of that RPC does
// not fail the others. All methods are safe for concurrent use.
type Cache struct {
	source Source
	ctx    context.Context
	stop   context.CancelFunc
	tasks  sync.WaitGroup

	mutex   sync.Mutex
	token   Token
	known   bool      // whether there is a token
	fetched time.Time // when it was fetched
	looked  time.Time // when Changed was called, or a fetch ended
	flight  *flight   // the fetch in progress; nil: none
}

// flight is one fetch.
type flight struct {
	done  chan struct{}
	token Token
	err   error
}

// NewCache returns a cache of a source. The caller must call Close.
func NewCache(source Source) *Cache {
	ctx, stop := context.WithCancel(context.Background())
	return &Cache{source: source, ctx: ctx, stop: stop}
}

// Close cancels the fetch in progress and waits for it.
func (c *Cache) Close() {
	c.mutex.Lock()
	c.stop()
	c.mutex.Unlock()
	c.tasks.Wait()
}

// Get returns the current token. It fetches one if there is none, if the token expires soon, or if
// the source has changed. If the fetch fails and the old token has not expired, Get returns the old
// one.
func (c *Cache) Get(ctx context.Context) (Token, error) {
	c.mutex.Lock()
	if c.known && !c.due(time.Now()) {
		defer c.mutex.Unlock()
		return c.token, nil
	}
	old, usable := c.token, c.known && (c.token.Expires.IsZero() || time.Now().Before(c.token.Expires))
	f := c.fetch()
	c.mutex.Unlock()
	token, err := f.wait(ctx)
	if err != nil && usable && ctx.Err() == nil {
		return old, nil
	}
	return token, err
}

// due reports whether it is time to fetch again. It calls Changed at most once in earliest.
func (c *Cache) due(now time.Time) bool {
	if now.Sub(c.looked) < earliest {
		return false
	}
	if c.token.Expires.IsZero() || now.Before(c.token.Expires.Add(-margin(c.token.Expires.Sub(c.fetched)))) {
		c.looked = now
		return c.source.Changed()
	}
	return true
}

func margin(life time.Duration) time.Duration { return min(maxMargin, max(0, life/marginShare)) }

// Renew returns a token in place of one that a server refused. ok is false if the source has no
// other token.
func (c *Cache) Renew(ctx context.Context, refused Token) (fresh Token, ok bool) {
	c.mutex.Lock()
	if c.known && c.token != refused {
		defer c.mutex.Unlock()
		return c.token, true // another RPC has renewed it
	}
	f := c.fetch()
	c.mutex.Unlock()
	token, err := f.wait(ctx)
	return token, err == nil && token.Value != refused.Value
}

// fetch returns the fetch in progress, or starts one. The caller holds the mutex.
func (c *Cache) fetch() *flight {
	if c.flight != nil {
		return c.flight
	}
	f := &flight{done: make(chan struct{})}
	if c.ctx.Err() != nil {
		f.err = errors.New("the client is closed")
		close(f.done)
		return f
	}
	c.flight = f
	c.tasks.Go(func() {
		f.token, f.err = c.source.Fetch(c.ctx)
		c.mutex.Lock()
		c.flight, c.looked = nil, time.Now()
		if f.err == nil {
			c.token, c.known, c.fetched = f.token, true, c.looked
		}
		c.mutex.Unlock()
		close(f.done)
	})
	return f
}

// wait returns the result of the fetch, or the error of ctx if that ends first.
func (f *flight) wait(ctx context.Context) (Token, error) {
	select {
	case <-f.done:
		return f.token, f.err
	case <-ctx.Done():
		return Token{}, ctx.Err()
	}
}
