package agentserver

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxShared is the number of changes after which a shared watch ends, so that it keeps a few
	// megabytes. Its watches go on with another one, together.
	maxShared = 256
	// maxHeldStreams bounds the shared streams, and maxWhole the watches that read all that toolhost
	// holds at the same time. toolhost takes 128 streams, and agentd's calls need some. A watch that
	// waits says that held calls are missing.
	maxHeldStreams, maxWhole = 64, 16
)

var errEnded error = tool.Errorf(tool.KindUnavailable, "toolhost has ended the stream")

// heldWatches watches the calls that toolhost holds. toolhost bounds the streams of a connection,
// which agentd needs for its calls. So the watches of one caller that are at the same position
// share a stream, and those that have no position end theirs when they have one.
type heldWatches struct {
	held           HeldCalls
	streams, whole chan struct{} // one element for each

	mu     sync.Mutex
	shared map[string]*heldStream
}

func newHeldWatches(held HeldCalls) *heldWatches {
	return &heldWatches{held: held, streams: make(chan struct{}, maxHeldStreams), whole: make(chan struct{}, maxWhole), shared: map[string]*heldStream{}}
}

// WatchInbox is HeldCalls.WatchInbox for a caller. named has the context of its requests.
func (s *heldWatches) WatchInbox(named context.Context, caller identity.Principal, watch client.InboxWatch) iter.Seq2[client.InboxChange, error] {
	return func(yield func(client.InboxChange, error) bool) {
		for {
			from, begun := s.from, watch.Position
			if begun == "" {
				from = s.all
			}
			for change, err := range from(named, caller, watch) {
				if !yield(change, err) || err != nil {
					return
				}
				if change.Complete {
					watch.Position = change.Position
				}
			}
			switch {
			case named.Err() != nil:
				return
			case begun == "" && watch.Position == "":
				yield(client.InboxChange{}, errEnded)
				return
			case begun == watch.Position: // toolhost begins again
				watch.Position = ""
			}
		}
	}
}

// all returns all that toolhost holds for the caller. It reads it first, so that a watcher that is
// slow does not keep its stream.
func (s *heldWatches) all(named context.Context, _ identity.Principal, watch client.InboxWatch) iter.Seq2[client.InboxChange, error] {
	return func(yield func(client.InboxChange, error) bool) {
		select {
		case s.whole <- struct{}{}:
		case <-named.Done():
			return
		}
		var state []client.InboxChange
		var failed error
		for change, err := range s.held.WatchInbox(named, watch) {
			if failed = err; err == nil {
				state = append(state, change)
			}
			if change.Complete {
				break
			}
		}
		<-s.whole
		for _, change := range state {
			if !yield(change, nil) {
				return
			}
		}
		if failed != nil {
			yield(client.InboxChange{}, failed)
		}
	}
}

// heldStream is a stream from a position, and what it has sent.
type heldStream struct {
	cancel  context.CancelFunc
	over    chan struct{}
	watches int // guarded by heldWatches.mu

	mu    sync.Mutex
	sent  []client.InboxChange
	ended bool
	err   error
	news  chan struct{} // closed with the next change, and the end
}

// from returns what changes after a position, until the stream ends.
func (s *heldWatches) from(named context.Context, caller identity.Principal, watch client.InboxWatch) iter.Seq2[client.InboxChange, error] {
	return func(yield func(client.InboxChange, error) bool) {
		key := fmt.Sprintf("%q", []any{caller.Key(), caller.Groups, watch.Tenants, watch.Position})
		h := s.join(named, key, watch)
		defer s.leave(key, h)
		for n := 0; ; {
			h.mu.Lock()
			fresh, ended, err, news := h.sent[n:len(h.sent):len(h.sent)], h.ended, h.err, h.news
			h.mu.Unlock()
			n += len(fresh)
			for _, change := range fresh {
				if !yield(change, nil) {
					return
				}
			}
			switch {
			case len(fresh) > 0:
				continue
			case err != nil:
				yield(client.InboxChange{}, err)
				return
			case ended:
				return
			}
			select {
			case <-news:
			case <-named.Done():
				return
			}
		}
	}
}

func (s *heldWatches) join(named context.Context, key string, watch client.InboxWatch) *heldStream {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.shared[key]
	if h == nil {
		h = &heldStream{over: make(chan struct{}), news: make(chan struct{})}
		ctx, cancel := context.WithCancel(context.WithoutCancel(named))
		h.cancel, s.shared[key] = cancel, h
		go func() { // ends when the last watch leaves, which waits for it
			defer close(h.over)
			select {
			case s.streams <- struct{}{}:
				defer func() { <-s.streams }()
			case <-ctx.Done():
			}
			h.run(s.held.WatchInbox(ctx, watch))
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.shared[key] == h {
				delete(s.shared, key)
			}
		}()
	}
	h.watches++
	return h
}

func (s *heldWatches) leave(key string, h *heldStream) {
	s.mu.Lock()
	h.watches--
	last := h.watches == 0
	if last && s.shared[key] == h {
		delete(s.shared, key)
	}
	s.mu.Unlock()
	if last {
		h.cancel()
		<-h.over
	}
}

// run reads the stream until it ends, has sent enough, or begins with all again: that is for each
// watch to read.
func (h *heldStream) run(stream iter.Seq2[client.InboxChange, error]) {
	failed := errEnded
	for change, err := range stream {
		if failed = cmp.Or(err, errEnded); err != nil {
			break
		}
		if change.Restart || h.add(change) >= maxShared && change.Complete {
			failed = nil
			break
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended, h.err = true, failed
	close(h.news)
}

func (h *heldStream) add(change client.InboxChange) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, change)
	close(h.news)
	h.news = make(chan struct{})
	return len(h.sent)
}
