package mcpserver

import (
	"context"
	"iter"
	"maps"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// latestFollow bounds the pause before a watch that failed is tried again.
const latestFollow = 5 * time.Minute

// follow replaces the resources and prompts that clients have listed when the host tells of a
// change, until ctx ends.
func (s *Server) follow(ctx context.Context) {
	query := tool.ResourceWatch{ResourceQuery: tool.ResourceQuery{Requester: tool.Requester{Session: s.config.Session}}}
	for pause := refreshInterval; ; pause = min(2*pause, latestFollow) {
		for change, err := range s.config.Tools.WatchResources(ctx, query) {
			if err != nil {
				break
			}
			pause = refreshInterval / 2
			// after the watch was interrupted, anything may have changed
			again := change == tool.ResourceChange{}
			if change.Resources || again && s.offering.listed("resource:") {
				_ = s.refreshResources(ctx) // a toolhost that does not answer keeps its resources, as far as clients know
			}
			if change.Prompts || again && s.offering.listed("prompt:") {
				_ = s.refreshPrompts(ctx)
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// listed reports whether a client has listed a kind.
func (o *offering) listed(kind string) bool {
	o.refreshing.Lock()
	defer o.refreshing.Unlock()
	return o.asked[kind]
}

// maxSubscriptions bounds the resources that the clients of a server have subscribed to. Each has a
// watch at the host.
const maxSubscriptions = 64

// subscriptions are the resources that clients have subscribed to, by URI. The SDK does not say
// when a session with subscriptions ends, so sweep looks for that. The zero value is ready for use.
type subscriptions struct {
	mu     sync.Mutex
	closed bool
	all    map[string]*subscription
	tasks  sync.WaitGroup
}

// subscription is a watch of one resource for all sessions that want it.
type subscription struct {
	sessions map[*mcp.ServerSession]bool
	stop     context.CancelFunc
	ready    chan struct{} // closed when the watch has begun or failed
	err      error         // valid after ready
}

// subscribe handles a subscription of a session. It returns when no later change is missed.
func (s *Server) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	ref, ok := resourceRef(uri)
	if !ok {
		return noResource(uri)
	}
	w, err := s.subscriptions.join(uri, req.Session, func(ctx context.Context, w *subscription) { s.watch(ctx, uri, ref, w) })
	if err != nil {
		return requestError(err)
	}
	select {
	case <-w.ready:
	case <-ctx.Done():
		s.subscriptions.leave(uri, req.Session)
		return ctx.Err()
	}
	if w.err != nil {
		s.subscriptions.leave(uri, req.Session)
		if tool.KindOf(w.err) == tool.KindNotFound {
			return noResource(uri)
		}
		return requestError(w.err)
	}
	return nil
}

// unsubscribe ends the subscription of a session.
func (s *Server) unsubscribe(_ context.Context, req *mcp.UnsubscribeRequest) error {
	s.subscriptions.leave(req.Params.URI, req.Session)
	return nil
}

// watch notifies the subscribed sessions of changes of a resource, until ctx ends.
func (s *Server) watch(ctx context.Context, uri string, ref tool.ResourceRef, w *subscription) {
	query := tool.ResourceWatch{
		ResourceQuery: tool.ResourceQuery{Requester: tool.Requester{Session: s.config.Session}, Plugin: ref.Plugin}, Resources: []tool.ResourceRef{ref},
	}
	begun := false
	for pause := refreshInterval; ; pause = min(2*pause, latestFollow) {
		for change, err := range s.config.Tools.WatchResources(ctx, query) {
			if err != nil {
				if !begun {
					w.err = err
					close(w.ready)
					return
				}
				break
			}
			pause = refreshInterval / 2
			if !begun {
				begun = true
				close(w.ready)
			} else if change.URI == ref.URI || change == (tool.ResourceChange{}) { // the latter after an interruption
				_ = s.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri})
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			if !begun {
				w.err = ctx.Err()
				close(w.ready)
			}
			return
		}
	}
}

// join adds a session to the subscription of a URI. If there is none, it begins one with run.
func (s *subscriptions) join(uri string, session *mcp.ServerSession, run func(ctx context.Context, w *subscription)) (*subscription, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.all[uri]
	if w == nil {
		if s.closed || len(s.all) >= maxSubscriptions {
			return nil, tool.Errorf(tool.KindRateLimited, "%d resources are subscribed to already; end a subscription first", len(s.all))
		}
		ctx, stop := context.WithCancel(context.Background())
		w = &subscription{sessions: map[*mcp.ServerSession]bool{}, stop: stop, ready: make(chan struct{})}
		if s.all == nil {
			s.all = map[string]*subscription{}
		}
		s.all[uri] = w
		s.tasks.Go(func() { run(ctx, w) }) // ends with the last session of the subscription
	}
	w.sessions[session] = true
	return w, nil
}

// leave removes a session from the subscription of a URI.
func (s *subscriptions) leave(uri string, session *mcp.ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.all[uri]; w != nil {
		delete(w.sessions, session)
		s.endLocked(uri, w)
	}
}

// endLocked ends a subscription that no session has.
func (s *subscriptions) endLocked(uri string, w *subscription) {
	if len(w.sessions) == 0 {
		w.stop()
		delete(s.all, uri)
	}
}

// sweep removes the sessions that have ended.
func (s *subscriptions) sweep(alive iter.Seq[*mcp.ServerSession]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return
	}
	living := map[*mcp.ServerSession]bool{}
	for session := range alive {
		living[session] = true
	}
	for uri, w := range s.all {
		maps.DeleteFunc(w.sessions, func(session *mcp.ServerSession, _ bool) bool { return !living[session] })
		s.endLocked(uri, w)
	}
}

// close ends all subscriptions and waits for their goroutines.
func (s *subscriptions) close() {
	s.mu.Lock()
	s.closed = true
	for uri, w := range s.all {
		clear(w.sessions)
		s.endLocked(uri, w)
	}
	s.mu.Unlock()
	s.tasks.Wait()
}
