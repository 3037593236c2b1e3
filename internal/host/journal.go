package host

import (
	"context"
	"iter"
	"sync"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// journal keeps the last events of all plugins, numbered from 1 without gaps, for any number of watchers. Appending
// never waits for one.
type journal struct {
	most int

	mu      sync.Mutex
	events  []tool.PluginEvent // a ring once it is full
	last    uint64             // the newest event's number
	changed chan struct{}      // closed at the next event
}

func newJournal(most int) *journal {
	return &journal{most: most, changed: make(chan struct{})}
}

func (j *journal) append(plugin string, e lifecycle.Event) tool.PluginEvent {
	return j.add(tool.PluginEvent{
		Time: e.Time, Type: string(e.Type), Plugin: plugin,
		Instance: e.Instance, Digest: e.Revision, Reason: e.Reason, Until: e.Until,
	})
}

// add gives an event its number, and returns it.
func (j *journal) add(event tool.PluginEvent) tool.PluginEvent {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.last++
	event.Seq = j.last
	if len(j.events) < j.most {
		j.events = append(j.events, event)
	} else {
		j.events[(j.last-1)%uint64(j.most)] = event
	}
	close(j.changed)
	j.changed = make(chan struct{})
	return event
}

// after returns the events after a number that are still kept, and what is closed when there is another. A number that
// has not been given yet is of another journal, whose watcher has seen nothing of this one: it gets all.
func (j *journal) after(seq uint64) (events []tool.PluginEvent, changed <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq > j.last {
		seq = 0
	}
	oldest := j.last - uint64(len(j.events)) // the number before the oldest that is kept
	for n := max(seq, oldest) + 1; n <= j.last; n++ {
		events = append(events, j.events[(n-1)%uint64(j.most)])
	}
	return events, j.changed
}

// WatchEvents returns what happened to plugins and instances: first the events that are kept, the oldest first, then, if
// asked, new ones as they happen, until ctx ends or the host closes. A gap in the numbers that no selection explains
// means that events were too old to be kept. The numbers begin again at 1 with each host: a query after a number that
// has not been given yet begins at the oldest.
func (h *Host) WatchEvents(ctx context.Context, q tool.EventQuery) iter.Seq2[tool.PluginEvent, error] {
	return func(yield func(tool.PluginEvent, error) bool) {
		for after := q.After; ; {
			events, changed := h.journal.after(after)
			for _, e := range events {
				after = e.Seq
				if (q.Plugin == "" || e.Plugin == q.Plugin) && !yield(e, nil) {
					return
				}
			}
			if !q.Follow {
				return
			}
			select {
			case <-changed:
			case <-h.ctx.Done():
				return
			case <-ctx.Done():
				yield(tool.PluginEvent{}, tool.AsError(context.Cause(ctx)))
				return
			}
		}
	}
}
