// Package memory stores calls in memory. It is the simplest store that package storetest accepts,
// so that other stores can be compared with it.
package memory

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/shares"
	"github.com/toolhost/toolhost/tool"
)

// Config sets the bounds of a store.
type Config struct {
	callstore.Bounds
	Now func() time.Time // the clock; nil: time.Now
}

// Store stores calls until its process ends. Use New to make one. All methods are safe for
// concurrent use, and none waits for anything but the others.
type Store struct {
	cfg Config
	id  string

	mu      sync.Mutex
	closed  bool
	number  int64   // of the newest call
	calls   []*call // in the order of beginning
	results []*call // those with a stored outcome, in the order of ending
	owned   callstore.Holdings
	kept    shares.Shares // the bytes of outcomes, by tenant
	bytes   int64         // of all outcomes
}

// call is one call in the form in which other stores have it, so that no caller shares memory with
// the store.
type call struct {
	entry     callstore.Entry
	end       callstore.Ending
	arguments []byte
	settled   *tool.Settlement
}

var _ callstore.Calls = (*Store)(nil)

// New returns an empty store. It returns an error if a bound is negative.
func New(cfg Config) (*Store, error) {
	bounds, err := cfg.Bounds.WithDefaults()
	if err != nil {
		return nil, fmt.Errorf("making a ledger in memory: %w", err)
	}
	cfg.Bounds = bounds
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Store{cfg: cfg, id: rand.Text(), owned: callstore.NewHoldings()}, nil
}

// Reopen closes the store and returns one with the same calls, as a later process would find them:
// those that had not ended are unknown.
func (s *Store) Reopen() *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	later := &Store{cfg: s.cfg, id: s.id, number: s.number, calls: s.calls, results: s.results, owned: s.owned, bytes: s.bytes}
	for _, c := range s.calls {
		if c.end.Stands == callstore.StandsBegun {
			c.end.Stands, c.entry.Ended = callstore.StandsUnknown, s.cfg.Now()
		}
	}
	for _, c := range s.results {
		later.kept.Add(c.tenant(), int64(len(c.end.Data)))
	}
	return later
}

// Close makes all other operations fail with callstore.ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// BeginWithin implements callstore.Writer.
func (s *Store) BeginWithin(ctx context.Context, e callstore.Entry, q callstore.Quota) error {
	return s.write(ctx, "beginning", e.Key, func(now time.Time) error {
		free, ids := s.find(e.Key), 1
		var before *tool.Settlement
		if free != nil {
			if free.end.Stands != callstore.StandsFree || free.entry.Sum != e.Sum {
				return callstore.ErrTaken
			}
			before, ids = free.settled, 0
		}
		for _, key := range e.Superseded() {
			if c := s.find(key); c == nil {
				ids++
			} else if c.end.Stands != callstore.StandsFailed && c.end.Stands != callstore.StandsUnknown && c.end.Stands != callstore.StandsFree {
				return callstore.ErrSuperseding
			}
		}
		if err := s.full(e.Principal, ids, q); err != nil {
			return err
		}
		if free != nil {
			s.remove(free)
		}
		if e.Begun.IsZero() {
			e.Begun = now
		}
		e.Begun = e.Begun.UTC()
		s.closeSuperseded(&e)
		s.number++
		e.Number, e.Supersedes = s.number, nil
		c := &call{entry: e, settled: before}
		if n := len(e.Arguments); n <= callstore.MaxArguments && s.argumentBytes()+int64(n) <= s.cfg.ArgumentBytes() {
			c.arguments = slices.Clone(e.Arguments)
		}
		c.entry.Arguments = nil
		s.calls = append(s.calls, c)
		s.owned.Add(e.Principal, 1)
		return nil
	})
}

// full returns a *callstore.FullError if the store has no room for so many new ids.
func (s *Store) full(principal string, more int, q callstore.Quota) error {
	if ids := len(s.calls); more > 0 && ids+more > s.cfg.MaxIDs {
		return &callstore.FullError{IDs: ids, Room: s.room()}
	}
	if owner, ids := s.owned.Full(principal, more, q, callstore.NewHoldings()); owner != "" && more > 0 {
		return &callstore.FullError{Owner: owner, IDs: ids, Room: s.room()}
	}
	return nil
}

func (s *Store) closeSuperseded(e *callstore.Entry) {
	for _, key := range e.Superseded() {
		c := s.find(key)
		if c == nil {
			s.number++
			closed := callstore.Entry{Key: key, Number: s.number, Sum: e.Sum, Tool: e.Tool, Plugin: e.Plugin, Begun: e.Begun, Ended: e.Begun}
			c = &call{entry: closed, end: callstore.Ending{Stands: callstore.StandsFree}}
			s.calls = append(s.calls, c)
			s.owned.Add(e.Principal, 1)
		}
		if c.arguments = nil; c.end.Stands == callstore.StandsFree {
			c.end = callstore.Closing(e.ID)
			c.end.Data = nil
		}
	}
}

func (s *Store) argumentBytes() (bytes int64) {
	for _, c := range s.calls {
		bytes += int64(len(c.arguments))
	}
	return bytes
}

// Settle implements callstore.Writer.
func (s *Store) Settle(ctx context.Context, key callstore.Key, number int64, said tool.Settlement, out tool.Outcome) error {
	end, err := callstore.EncodeOutcome(&out, s.cfg.MaxResult)
	if err != nil {
		return fmt.Errorf("settling call %s in memory: %w", key.ID, err)
	}
	return s.write(context.WithoutCancel(ctx), "settling", key, func(now time.Time) error {
		c := s.find(key)
		if c == nil || c.entry.Number != number || !c.unsettled() {
			return callstore.ErrNotUnknown
		}
		said.Result = nil
		switch said.Verdict {
		case tool.VerdictHappened:
			s.dropOf(c)
			s.end(c, end, now)
			c.arguments = nil
		case tool.VerdictDidNotHappen:
			s.dropOf(c)
			c.end, c.entry.Ended = callstore.Ending{Stands: callstore.StandsFree}, now.UTC()
		default:
			said.Verdict = tool.VerdictUnknown
		}
		c.settled = &said
		return nil
	})
}

// unsettled reports whether the tool can settle the call.
func (c *call) unsettled() bool {
	return c.arguments != nil && (c.end.Stands == callstore.StandsUnknown || c.end.Unknown)
}

// room returns when the oldest call is forgotten.
func (s *Store) room() time.Time {
	if len(s.calls) == 0 {
		return time.Unix(0, 0).Add(s.cfg.KeepIDs)
	}
	return s.calls[0].entry.Begun.Add(s.cfg.KeepIDs)
}

// End implements callstore.Writer.
func (s *Store) End(ctx context.Context, key callstore.Key, out tool.Outcome) error {
	end, err := callstore.EncodeOutcome(&out, s.cfg.MaxResult)
	if err != nil {
		return fmt.Errorf("ending call %s in memory: %w", key.ID, err)
	}
	return s.write(context.WithoutCancel(ctx), "ending", key, func(now time.Time) error {
		c := s.find(key)
		if c == nil || c.end.Stands != callstore.StandsBegun {
			return callstore.ErrNotBegun
		}
		if s.end(c, end, now); !end.Unknown {
			c.arguments = nil
		}
		return nil
	})
}

func (s *Store) end(c *call, end callstore.Ending, now time.Time) {
	if end.Data != nil && s.bytes+int64(len(end.Data)) > s.cfg.MaxBytes {
		end.Data = nil
	}
	c.end, c.entry.Ended, c.entry.Instance = end, now.UTC(), end.Instance
	if end.Plugin != "" {
		c.entry.Plugin = end.Plugin
	}
	if end.Data != nil {
		s.results = append(s.results, c)
		s.keep(c, 1)
	}
}

// Forget implements callstore.Writer.
func (s *Store) Forget(ctx context.Context, key callstore.Key) error {
	return s.write(context.WithoutCancel(ctx), "forgetting", key, func(time.Time) error {
		c := s.find(key)
		switch {
		case c == nil:
			return nil
		case c.end.Stands != callstore.StandsBegun:
			return callstore.ErrNotBegun
		}
		s.remove(c)
		return nil
	})
}

// write executes an operation with the lock held, after it has removed what is due.
func (s *Store) write(ctx context.Context, verb string, key callstore.Key, do func(now time.Time) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := callstore.ErrClosed
	if !s.closed {
		now := s.cfg.Now()
		s.evict(now)
		err = do(now)
	}
	if err != nil {
		return fmt.Errorf("%s call %s in memory: %w", verb, key.ID, err)
	}
	return nil
}

// evict removes outcomes and calls that are too old, and outcomes that are too many: the oldest
// ones of the tenant that has the most bytes of them.
func (s *Store) evict(now time.Time) {
	for s.bytes > s.cfg.MaxBytes-s.cfg.MaxBytes/callstore.ResultShare {
		tenant := s.kept.Largest()
		s.drop(slices.IndexFunc(s.results, func(c *call) bool { return c.tenant() == tenant }))
	}
	for len(s.results) > 0 && !now.Before(s.results[0].entry.Ended.Add(s.cfg.KeepResults)) {
		s.drop(0)
	}
	for len(s.calls) > 0 && !now.Before(s.calls[0].entry.Begun.Add(s.cfg.KeepIDs)) {
		s.remove(s.calls[0])
	}
}

// drop removes a stored outcome.
func (s *Store) drop(i int) {
	c := s.results[i]
	s.results = slices.Delete(s.results, i, i+1)
	s.keep(c, -1)
	c.end.Data = nil
}

// dropOf removes the stored outcome of a call, if there is one.
func (s *Store) dropOf(c *call) {
	if i := slices.Index(s.results, c); i >= 0 {
		s.drop(i)
	}
}

// remove removes a call with its outcome.
func (s *Store) remove(c *call) {
	s.dropOf(c)
	s.calls = slices.DeleteFunc(s.calls, func(other *call) bool { return other == c })
	s.owned.Add(c.entry.Principal, -1)
}

// keep adds the bytes of an outcome to what its tenant has, or with sign -1 subtracts them.
func (s *Store) keep(c *call, sign int64) {
	s.bytes += sign * int64(len(c.end.Data))
	s.kept.Add(c.tenant(), sign*int64(len(c.end.Data)))
}

func (s *Store) find(key callstore.Key) *call {
	for _, c := range s.calls {
		if c.entry.Key == key {
			return c
		}
	}
	return nil
}

func (c *call) tenant() string { return identity.TenantOf(c.entry.Principal) }

// read returns the call as callers see it, with or without its arguments and its stored outcome.
func (c *call) read(arguments, outcome bool) (callstore.Entry, error) {
	e := c.entry
	if !arguments {
		e.EffectKey = ""
	}
	if c.settled != nil {
		said := *c.settled
		e.Settled = &said
	}
	if arguments {
		e.Arguments = slices.Clone(c.arguments)
	}
	return e, e.Decode(c.end.Stands, c.end.Short, outcome && c.end.Data != nil, c.end.Data)
}

// Known implements callstore.Reader.
func (s *Store) Known(key callstore.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(key) != nil
}

// Find implements callstore.Reader.
func (s *Store) Find(_ context.Context, key callstore.Key) (callstore.Entry, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return callstore.Entry{}, false, fmt.Errorf("looking for call %s: %w", key.ID, callstore.ErrClosed)
	}
	c := s.find(key)
	if c == nil {
		return callstore.Entry{}, false, nil
	}
	e, err := c.read(true, s.cfg.Now().Before(c.entry.Ended.Add(s.cfg.KeepResults)))
	return e, err == nil, err
}

// List implements callstore.Reader.
func (s *Store) List(ctx context.Context, q callstore.Query) ([]callstore.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, fmt.Errorf("listing calls: %w", callstore.ErrClosed)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if q.Limit <= 0 || q.Limit > callstore.MaxPage {
		q.Limit = callstore.MaxPage
	}
	var entries []callstore.Entry
	for _, c := range slices.Backward(s.calls) {
		if len(entries) == q.Limit {
			break
		}
		if !c.matches(&q) {
			continue
		}
		e, err := c.read(false, false)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (c *call) matches(q *callstore.Query) bool {
	e := &c.entry
	for _, column := range [][2]string{{q.Plugin, e.Plugin}, {q.Tool, e.Tool}, {q.Session, e.Session}, {q.ID, e.ID}} {
		if want, has := column[0], column[1]; want != "" && want != has {
			return false
		}
	}
	return (!q.Unsettled || c.unsettled()) && (q.State == "" || q.State == c.end.Stands.How()) && (q.Before <= 0 || e.Number < q.Before) &&
		q.Tenants.Contain(c.tenant())
}

// IDs implements callstore.Reader.
func (s *Store) IDs() (ids, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls), s.cfg.MaxIDs
}

// ID implements callstore.Identity.
func (s *Store) ID() string { return s.id }

// Is implements callstore.Identity.
func (s *Store) Is(id string) bool { return id == s.id }

// Shared implements callstore.Identity.
func (s *Store) Shared() bool { return false }

// Restored implements callstore.Identity.
func (s *Store) Restored() *callstore.Restoration { return nil }

// Forgets implements callstore.Identity.
func (s *Store) Forgets(sent time.Time) bool { return s.cfg.Bounds.Forgets(s.cfg.Now(), sent) }

// Now implements callstore.Identity.
func (s *Store) Now() time.Time { return s.cfg.Now() }
