package mcpclient

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/server/internal/toolhost/pluginconn"
	"github.com/toolhost/toolhost/tool"
)

// notices passes on what the server says about changes of its resources and prompts. The transport
// bounds how often a server may say something. The zero value is ready for use.
type notices struct {
	mu        sync.Mutex
	last      int
	listeners map[int]func(tool.ResourceChange)
	// subscribed counts the subscriptions of each resource. The server has one for all of them.
	subscribed map[string]*subscription
}

// subscription is the subscription of one resource at the server.
type subscription struct {
	count int
	ready chan struct{} // closed when the server has answered
	err   error         // valid after ready
}

// Notice implements pluginconn.Noticing.
func (c *Conn) Notice(f func(tool.ResourceChange)) (stop func()) {
	n := &c.notices
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners = map[int]func(tool.ResourceChange){}
	}
	n.last++
	number := n.last
	n.listeners[number] = f
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, number)
	}
}

func (n *notices) tell(change tool.ResourceChange) {
	n.mu.Lock()
	listeners := make([]func(tool.ResourceChange), 0, len(n.listeners))
	for _, f := range n.listeners {
		listeners = append(listeners, f)
	}
	n.mu.Unlock()
	for _, f := range listeners {
		f(change)
	}
}

// updated passes on that a resource has changed, if somebody has subscribed to it.
func (n *notices) updated(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) {
	if req.Params == nil {
		return
	}
	n.mu.Lock()
	s := n.subscribed[req.Params.URI]
	wanted := s != nil && s.count > 0
	n.mu.Unlock()
	if wanted {
		n.tell(tool.ResourceChange{URI: req.Params.URI})
	}
}

// Subscribe implements pluginconn.Resources.
func (c *Conn) Subscribe(ctx context.Context, _ pluginconn.Asker, uri string) (stop func(), err error) {
	n := &c.notices
	n.mu.Lock()
	s, again := n.subscribed[uri]
	if !again {
		if n.subscribed == nil {
			n.subscribed = map[string]*subscription{}
		}
		s = &subscription{ready: make(chan struct{})}
		n.subscribed[uri] = s
		go c.subscribe(uri, s) // ends with the answer of the server, or with the session
	}
	s.count++
	n.mu.Unlock()
	stop = sync.OnceFunc(func() { c.unsubscribe(uri, s) })
	err = c.request(ctx, func(ctx context.Context) error {
		select {
		case <-s.ready:
			return s.err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.done:
			return ErrEnded
		}
	})
	if err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

func (c *Conn) subscribe(uri string, s *subscription) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() { // ends with subscribe
		select {
		case <-c.done:
			cancel()
		case <-ended:
		}
	}()
	s.err = c.session.Subscribe(ctx, &mcp.SubscribeParams{URI: uri})
	close(s.ready)
}

// maxKept bounds the subscriptions that a server keeps although nothing needs them.
const maxKept = 100

// unsubscribe ends one subscription, and that at the server after the last one. It does not wait
// for the server.
//
// A server of version 2026-07-28 keeps its subscription, because servers that use the official Go
// SDK (v1.8.0) stop all notices of changed lists when one subscription ends.
func (c *Conn) unsubscribe(uri string, s *subscription) {
	n := &c.notices
	n.mu.Lock()
	s.count--
	ended := s.count == 0 && !(c.sessionless() && s.succeeded() && len(n.subscribed) <= maxKept)
	if ended && n.subscribed[uri] == s {
		delete(n.subscribed, uri)
	}
	n.mu.Unlock()
	if !ended {
		return
	}
	go func() { // ends with the answer of the server, or with the session
		ctx, cancel := context.WithTimeout(context.Background(), answerTime)
		defer cancel()
		_ = c.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri}) // a server that does not know it has nothing to end
	}()
}

// succeeded reports whether the server has agreed to the subscription.
func (s *subscription) succeeded() bool {
	select {
	case <-s.ready:
		return s.err == nil
	default:
		return false
	}
}
