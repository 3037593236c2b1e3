package host

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// record is everything that happened to one call, so that any number of callers can follow it from its first event,
// also after its end. What a call says beyond maxRecordBytes pushes out its oldest events: of those, the last Started
// stays, and one status that stands for all statuses.
type record struct {
	mu      sync.Mutex
	started *tool.Event   // the last that was pushed out
	folded  *tool.Event   // stands for the statuses that were pushed out; its Seq is that of the last of them
	events  []tool.Event  // the latest, without gaps
	seq     uint64        // of the last event
	size    int           // of all that is held, in bytes, roughly
	ended   bool          // the last event is the outcome
	changed chan struct{} // closed at the next event; nil if nobody waits
	over    chan struct{} // closed at the outcome; nil if nobody waits for that alone
	grow    func() bool   // reserves eventStep more bytes, and reports whether it could; nil: the memory is not accounted for
	room    int           // bytes that were reserved by grow

	// The memory of what every call says. Who holds an event of it holds the record.
	usual struct {
		events  [2]tool.Event
		started tool.Started // of the first instance
		outcome tool.Outcome
	}
}

// maxRecordBytes bounds what a record keeps besides its outcome, so that a tool that chatters costs bounded memory.
const maxRecordBytes = 1 << 20

// maxFoldBytes bounds the status that stands for others: folding costs time in its size.
const maxFoldBytes = 64 << 10

// publish adds an event. Nothing comes after the outcome.
func (r *record) publish(ev tool.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.publishLocked(ev)
	}
}

// start adds that an instance has the call.
func (r *record) start(s tool.Started) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	started := &r.usual.started
	if started.Attempt > 0 { // it is another event's
		started = &tool.Started{}
	}
	*started = s
	r.publishLocked(tool.Event{Started: started})
}

// end adds the outcome, and does something else just before anybody can see it, if it is added at all. first must not block.
func (r *record) end(outcome tool.Outcome, first func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	first()
	r.usual.outcome = outcome
	r.publishLocked(tool.Event{Ended: &r.usual.outcome})
}

func (r *record) publishLocked(ev tool.Event) {
	if r.events == nil {
		r.events = r.usual.events[:0]
	}
	size := eventSize(&ev)
	r.seq++
	ev.Seq = r.seq
	ev.Time = time.Now()
	r.ended = ev.Ended != nil
	if !r.ended {
		r.trim(size)
	}
	r.events = append(r.events, ev)
	r.size += size
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
	if r.ended && r.over != nil {
		close(r.over)
	}
}

// trim pushes out the oldest events if there is no room for more: a quarter of them, so that it is not done for each.
// r.mu is held.
func (r *record) trim(more int) {
	most := r.most(more)
	if r.size+more <= most {
		return
	}
	n := 0
	for ; n < len(r.events) && r.size+more > most*3/4; n++ {
		ev := &r.events[n]
		switch {
		case ev.Started != nil:
			r.started = r.replace(r.started, *ev)
		case ev.Status != nil && r.folded != nil:
			fold := *ev
			status := r.folded.Status.Fold(*ev.Status)
			if fold.Status = &status; eventSize(&fold) > maxFoldBytes {
				fold.Status = ev.Status // parameters that grow without end are not worth more than the latest
			}
			r.folded = r.replace(r.folded, fold)
		case ev.Status != nil:
			r.folded = r.replace(nil, *ev)
		}
		r.size -= eventSize(ev)
	}
	if n > 0 {
		r.events = append([]tool.Event(nil), r.events[n:]...)
	}
}

// most returns how many bytes of events the record may hold, now that it is to have more. r.mu is held.
func (r *record) most(more int) int {
	if r.grow == nil {
		return maxRecordBytes
	}
	for r.size+more > freeEvents+r.room && r.room < maxRecordBytes && r.grow() {
		r.room += eventStep
	}
	return min(freeEvents+r.room, maxRecordBytes)
}

// replace accounts for one event in the place of another.
func (r *record) replace(old *tool.Event, with tool.Event) *tool.Event {
	if old != nil {
		r.size -= eventSize(old)
	}
	r.size += eventSize(&with)
	return &with
}

// next returns the first event after the one with the number, and blocks until there is one. After the outcome it
// returns io.EOF.
func (r *record) next(ctx context.Context, after uint64) (tool.Event, error) {
	for {
		r.mu.Lock()
		if ev := r.first(after); ev != nil {
			found := *ev
			r.mu.Unlock()
			return found, nil
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

// last returns the last event, the outcome, and blocks until it is there.
func (r *record) last(ctx context.Context) (tool.Event, error) {
	r.mu.Lock()
	if !r.ended && r.over == nil {
		r.over = make(chan struct{})
	}
	ended, over := r.ended, r.over
	r.mu.Unlock()
	if !ended {
		select {
		case <-over:
		case <-ctx.Done():
			return tool.Event{}, context.Cause(ctx)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events[len(r.events)-1], nil
}

// first returns the first event after a number, or nil. r.mu is held.
func (r *record) first(after uint64) *tool.Event {
	early, late := r.started, r.folded
	if early != nil && late != nil && early.Seq > late.Seq {
		early, late = late, early
	}
	for _, ev := range []*tool.Event{early, late} {
		if ev != nil && ev.Seq > after {
			return ev
		}
	}
	if after >= r.seq {
		return nil
	}
	begin := r.events[0].Seq
	return &r.events[max(after+1, begin)-begin]
}

// outcome returns how the call ended, or nil, and when.
func (r *record) outcome() (*tool.Outcome, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		return nil, time.Time{}
	}
	last := &r.events[len(r.events)-1]
	return last.Ended, last.Time
}

// place returns the instance that has the call, or had it last; empty: none yet.
func (r *record) place() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.events) - 1; i >= 0; i-- {
		if s := r.events[i].Started; s != nil {
			return s.Instance
		}
	}
	if r.started != nil {
		return r.started.Started.Instance
	}
	return ""
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
		return fixed + outcomeSize(ev.Ended)
	default:
		return fixed
	}
}

func outcomeSize(o *tool.Outcome) int {
	const fixed = 128
	size := 0
	for i := range o.Result.Content {
		c := &o.Result.Content[i]
		size += fixed + len(c.Text) + len(c.JSON) + len(c.Data)
		if c.Artifact != nil {
			size += len(c.Artifact.Head) + len(c.Artifact.Tail)
		}
	}
	for _, effect := range o.Result.Effects {
		size += len(effect.Key) + len(effect.Value)
	}
	for key, value := range o.Result.Metadata {
		size += fixed + len(key) + len(value)
	}
	if o.Err == nil {
		return size
	}
	size += fixed + len(o.Err.Message) + len(o.Err.Arguments)
	if o.Err.Exit != nil {
		for _, line := range o.Err.Exit.LastStderr {
			size += len(line)
		}
	}
	return size
}
