package eventlog

import (
	"cmp"
	"slices"
	"sync"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/shares"
	"github.com/toolhost/toolhost/tool"
)

// Plugins is the event log of all plugins and their instances: the last events, numbered from 1
// without gaps. If there are too many, the tenant with the most events loses its oldest one, so
// that the crashes of one tenant do not hide the events of another. Use NewPlugins to make one. All
// methods are safe for concurrent use, and none of them waits for a reader.
type Plugins struct {
	most int

	mu      sync.Mutex
	events  map[string][]tool.PluginEvent // by tenant, the oldest first; see tenantOf
	counts  shares.Shares                 // of the tenants
	count   int                           // of all events
	last    uint64                        // the number of the newest event
	changed chan struct{}                 // closed at the next event
}

// NewPlugins returns an empty log. The parameter most is the number of events that it keeps, and
// must be positive.
func NewPlugins(most int) *Plugins {
	return &Plugins{most: most, events: map[string][]tool.PluginEvent{}, changed: make(chan struct{})}
}

// Append gives an event the next number, stores it and returns it.
func (l *Plugins) Append(event tool.PluginEvent) tool.PluginEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	event.Seq = l.last
	tenant := tenantOf(&event)
	l.events[tenant] = append(l.events[tenant], event)
	l.counts.Add(tenant, 1)
	if l.count++; l.count > l.most {
		l.dropLocked(l.counts.Largest())
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return event
}

// dropLocked forgets the oldest event of a tenant.
func (l *Plugins) dropLocked(tenant string) {
	l.count--
	l.counts.Add(tenant, -1)
	of := l.events[tenant]
	if len(of) == 1 {
		delete(l.events, tenant)
		return
	}
	of[0] = tool.PluginEvent{} // else its strings would stay in memory
	l.events[tenant] = of[1:]
}

// tenantOf returns the tenant that an event concerns; "": all of them. An instance without a tenant
// belongs to the default one.
func tenantOf(e *tool.PluginEvent) string {
	if e.Tenant == "" && e.Instance != "" {
		return identity.DefaultTenant
	}
	return e.Tenant
}

// Last returns the number of the newest event; 0 if there is none.
func (l *Plugins) Last() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// After returns the stored events after a number, and a channel that is closed when the log gets
// another event. If the log has not yet given the number to an event, the number comes from a log
// before a restart. A reader with such a number has read nothing of this log, and gets all stored
// events.
func (l *Plugins) After(seq uint64) (events []tool.PluginEvent, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq > l.last {
		seq = 0
	}
	for _, of := range l.events {
		from, _ := slices.BinarySearchFunc(of, seq+1, func(e tool.PluginEvent, n uint64) int { return cmp.Compare(e.Seq, n) })
		events = append(events, of[from:]...)
	}
	slices.SortFunc(events, func(a, b tool.PluginEvent) int { return cmp.Compare(a.Seq, b.Seq) })
	return events, l.changed
}
