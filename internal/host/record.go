package host

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// record is everything that happened to one call, so that any number of callers can follow it from its first event,
// also after its end.
type record struct {
	mu      sync.Mutex
	events  []tool.Event
	size    int           // of the events, in bytes, roughly
	ended   bool          // the last event is the outcome
	changed chan struct{} // closed at the next event; nil if nobody waits
}

// maxRecordBytes bounds what a record keeps besides its outcome and its last status, of which there is one each, so that
// a tool that chatters costs bounded memory. What does not fit is left out.
const maxRecordBytes = 1 << 20

// publish adds an event. Nothing comes after the outcome.
func (r *record) publish(ev tool.Event) { r.publishFirst(ev, func() {}) }

// publishFirst is publish that does something else just before anybody can see the event, if the event is added at all.
// first must not block.
func (r *record) publishFirst(ev tool.Event, first func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	size := eventSize(&ev)
	last := ev.Ended != nil || ev.Status != nil && ev.Status.State.Terminal()
	if !last && r.size+size > maxRecordBytes {
		return
	}
	first()
	ev.Seq = uint64(len(r.events) + 1)
	ev.Time = time.Now()
	r.events = append(r.events, ev)
	r.size += size
	r.ended = ev.Ended != nil
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// next returns the event after the first n and blocks until there is one. After the outcome it returns io.EOF.
func (r *record) next(ctx context.Context, n int) (tool.Event, error) {
	for {
		r.mu.Lock()
		if n < len(r.events) {
			ev := r.events[n]
			r.mu.Unlock()
			return ev, nil
		}
		if r.ended {
			r.mu.Unlock()
			return tool.Event{}, io.EOF
		}
		if r.changed == nil {
			r.changed = make(chan struct{})
		}
		changed := r.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return tool.Event{}, context.Cause(ctx)
		}
	}
}

// bytes returns roughly how much memory the record holds.
func (r *record) bytes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// eventSize is roughly the memory that an event holds.
func eventSize(ev *tool.Event) int {
	const fixed = 128
	switch {
	case ev.Status != nil:
		return fixed + len(ev.Status.Tip) + len(ev.Status.Parameters) + len(ev.Status.Result)
	case ev.Log != nil:
		size := fixed + len(ev.Log.Message)
		for key, value := range ev.Log.Attributes {
			size += len(key) + len(value)
		}
		return size
	case ev.Ended != nil:
		size := fixed
		for i := range ev.Ended.Result.Content {
			c := &ev.Ended.Result.Content[i]
			size += fixed + len(c.Text) + len(c.JSON) + len(c.Data)
		}
		for _, effect := range ev.Ended.Result.Effects {
			size += len(effect.Key) + len(effect.Value)
		}
		return size
	default:
		return fixed
	}
}
