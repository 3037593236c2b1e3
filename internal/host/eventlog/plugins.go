package eventlog

import (
	"sync"

	"github.com/toolhost/toolhost/tool"
)

// Plugins is the event log of all plugins and their instances: the last events, numbered from 1
// without gaps. Use NewPlugins to make one. All methods are safe for concurrent use, and none of
// them waits for a reader.
type Plugins struct {
	most int

	mu      sync.Mutex
	events  []tool.PluginEvent // a ring once it is full
	last    uint64             // the number of the newest event
	changed chan struct{}      // closed at the next event
}

// NewPlugins returns an empty log that keeps the last most events. most must be positive.
func NewPlugins(most int) *Plugins {
	return &Plugins{most: most, changed: make(chan struct{})}
}

// Append gives an event the next number, stores it and returns it.
func (l *Plugins) Append(event tool.PluginEvent) tool.PluginEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	event.Seq = l.last
	if len(l.events) < l.most {
		l.events = append(l.events, event)
	} else {
		l.events[(l.last-1)%uint64(l.most)] = event
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return event
}

// After returns the stored events after a number, and a channel that is closed when the log gets
// another event. A number that the log has not yet given to an event comes from a log before a
// restart. A reader with such a number has read nothing of this log, and gets all stored events.
func (l *Plugins) After(seq uint64) (events []tool.PluginEvent, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq > l.last {
		seq = 0
	}
	oldest := l.last - uint64(len(l.events)) // the number before that of the oldest stored event
	for n := max(seq, oldest) + 1; n <= l.last; n++ {
		events = append(events, l.events[(n-1)%uint64(l.most)])
	}
	return events, l.changed
}
