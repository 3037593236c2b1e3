package agentserver

import (
	"sync"

	"google.golang.org/protobuf/proto"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/wire/grpcserver"
)

const (
	// sharedEvents and sharedBytes bound what a server keeps of encoded events. The watchers of a run
	// that read as fast as others are a few events apart. One that is further behind encodes for
	// itself.
	sharedEvents = 256
	sharedBytes  = 4 << 20
)

// sharedEncoding encodes an event once for all streams that watch a run. A run gives its watchers
// the same event: its payload is one pointer, which is part of the key and so stays in use. The
// zero value is ready for use. It is safe for concurrent use.
type sharedEncoding struct {
	mu     sync.Mutex
	events map[loop.Event]*encodedEvent
	order  []*encodedEvent // the oldest first
	bytes  int
}

type encodedEvent struct {
	event loop.Event
	once  sync.Once
	data  grpcserver.Encoded
	err   error
	size  int // in sharedEncoding.bytes; guarded by its mu
}

// of returns the encoded WatchRunResponse of an event.
func (s *sharedEncoding) of(event loop.Event) (grpcserver.Encoded, error) {
	e := s.entry(event)
	e.once.Do(func() {
		e.data, e.err = proto.Marshal(&agentdv1.WatchRunResponse{Event: fromEvent(event)})
		s.count(e)
	})
	return e.data, e.err
}

func (s *sharedEncoding) entry(event loop.Event) *encodedEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.events[event]; e != nil {
		return e
	}
	if s.events == nil {
		s.events = map[loop.Event]*encodedEvent{}
	}
	e := &encodedEvent{event: event}
	s.events[event] = e
	s.order = append(s.order, e)
	s.shrinkLocked()
	return e
}

// count adds the bytes of an entry that was encoded.
func (s *sharedEncoding) count(e *encodedEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.events[e.event] == e {
		e.size = len(e.data)
		s.bytes += e.size
		s.shrinkLocked()
	}
}

func (s *sharedEncoding) shrinkLocked() {
	for len(s.order) > sharedEvents || s.bytes > sharedBytes {
		oldest := s.order[0]
		s.order[0] = nil
		s.order = s.order[1:]
		s.bytes -= oldest.size
		delete(s.events, oldest.event)
	}
}
