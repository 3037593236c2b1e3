// Package eventlog keeps the events of calls and of plugins in memory, for readers that come and
// go. Call is the log of one call. Plugins is the log of all plugins and their instances.
//
// The package numbers, stores and hands out events. It does not decide what an event means, and
// it writes nothing to disk.
package eventlog

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/toolhost/toolhost/tool"
)

const (
	// FreeBytes is how much a Call stores before it reserves memory. The fixed memory of a call
	// includes it.
	FreeBytes = 8 << 10
	// stepBytes is how much a Call reserves at once.
	stepBytes = 64 << 10
	// maxBytes bounds what a Call stores besides the outcome, so that a tool that reports without
	// end costs a bounded amount of memory.
	maxBytes = 1 << 20
	// maxFoldBytes bounds the status that stands for discarded statuses: merging two statuses takes
	// time in proportion to their size.
	maxFoldBytes = 64 << 10
)

// Call is the event log of one call. Any number of readers can read it from its first event, while
// the call runs and after it has ended. The zero value is an empty log. All methods are safe for
// concurrent use.
//
// The log is bounded. When it is full, it discards the oldest events, but a late reader must still
// learn where the call runs and what its status is. So the log keeps the last discarded Started
// event, and it folds all discarded statuses into one. A reader therefore gets at most these two
// events out of the discarded part, and then the latest events without a gap.
type Call struct {
	mu      sync.Mutex
	started *tool.Event   // the last discarded Started event; nil: none
	folded  *tool.Event   // all discarded statuses; has the number of the last of them; nil: none
	events  []tool.Event  // the latest events, without gaps
	seq     uint64        // the number of the last event
	size    int           // the approximate size of all stored events, in bytes
	ended   bool          // the last event is the outcome
	changed chan struct{} // closed at the next event; nil: no reader waits for it
	over    chan struct{} // closed at the outcome; nil: no reader waits for the outcome alone
	room    int           // how many bytes reserve has reserved

	reserve func(bytes int) bool // see Account; nil: memory is not accounted for

	// Nearly every call has just these events. Their memory is part of the log, because separate
	// allocations would cost more than the events. A reader that holds such an event holds the log.
	usual struct {
		events  [2]tool.Event
		started tool.Started // of the first instance
		outcome tool.Outcome
	}
}

// Account makes the log reserve memory before it stores more than FreeBytes. reserve reserves
// the given number of bytes and reports whether it could; where it could not, the log discards its
// oldest events earlier. Account must be called before any other method.
func (l *Call) Account(reserve func(bytes int) bool) {
	l.reserve = reserve
}

// Publish adds an event. It does nothing once the log has the outcome.
func (l *Call) Publish(ev tool.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.publishLocked(ev)
	}
}

// Start adds the event that an instance has the call.
func (l *Call) Start(s tool.Started) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	started := &l.usual.started
	if started.Attempt > 0 { // an earlier event uses it
		started = &tool.Started{}
	}
	*started = s
	l.publishLocked(tool.Event{Started: started})
}

// End adds the outcome. It calls first just before readers can see the outcome, and not at all if
// the log already has one. first must not block and must not use the log.
func (l *Call) End(outcome tool.Outcome, first func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	first()
	l.usual.outcome = outcome
	l.publishLocked(tool.Event{Ended: &l.usual.outcome})
}

// Restore makes an empty log that of a call of which only the outcome is known. The outcome gets
// the number after the given one, so that a reader that has read the events up to it still gets the
// outcome.
func (l *Call) Restore(outcome tool.Outcome, after uint64) {
	l.mu.Lock()
	l.seq = after
	l.mu.Unlock()
	l.End(outcome, func() {})
}

func (l *Call) publishLocked(ev tool.Event) {
	if l.events == nil {
		l.events = l.usual.events[:0]
	}
	size := eventSize(&ev)
	l.seq++
	ev.Seq = l.seq
	ev.Time = time.Now()
	l.ended = ev.Ended != nil
	if !l.ended {
		l.trimLocked(size)
	}
	l.events = append(l.events, ev)
	l.size += size
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	if l.ended && l.over != nil {
		close(l.over)
	}
}

// trimLocked discards the oldest events if there is no room for more bytes. It frees a quarter of
// the log, so that not every event causes a trim.
func (l *Call) trimLocked(more int) {
	most := l.limitLocked(more)
	if l.size+more <= most {
		return
	}
	n := 0
	for ; n < len(l.events) && l.size+more > most*3/4; n++ {
		ev := &l.events[n]
		switch {
		case ev.Started != nil:
			l.started = l.replaceLocked(l.started, *ev)
		case ev.Status != nil && l.folded != nil:
			fold := *ev
			status := l.folded.Status.Fold(*ev.Status)
			if fold.Status = &status; eventSize(&fold) > maxFoldBytes {
				fold.Status = ev.Status // parameters that grow without end: the latest are enough
			}
			l.folded = l.replaceLocked(l.folded, fold)
		case ev.Status != nil:
			l.folded = l.replaceLocked(nil, *ev)
		}
		l.size -= eventSize(ev)
	}
	if n > 0 {
		l.events = append([]tool.Event(nil), l.events[n:]...)
	}
}

// limitLocked returns how many bytes the log may store. It first tries to reserve room for more.
func (l *Call) limitLocked(more int) int {
	if l.reserve == nil {
		return maxBytes
	}
	for l.size+more > FreeBytes+l.room && l.room < maxBytes && l.reserve(stepBytes) {
		l.room += stepBytes
	}
	return min(FreeBytes+l.room, maxBytes)
}

// replaceLocked returns the event to keep in place of old, and updates the size of the log.
func (l *Call) replaceLocked(old *tool.Event, with tool.Event) *tool.Event {
	if old != nil {
		l.size -= eventSize(old)
	}
	l.size += eventSize(&with)
	return &with
}

// Next returns the first event after a number, and blocks until there is one. The number 0 is
// before the first event. After the outcome it returns io.EOF; when ctx ends, the cause of ctx.
func (l *Call) Next(ctx context.Context, after uint64) (tool.Event, error) {
	for {
		l.mu.Lock()
		if ev := l.firstLocked(after); ev != nil {
			found := *ev
			l.mu.Unlock()
			return found, nil
		}
		if l.ended {
			l.mu.Unlock()
			return tool.Event{}, io.EOF
		}
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return tool.Event{}, context.Cause(ctx)
		}
	}
}

// Last returns the outcome, and blocks until there is one. When ctx ends, it returns the cause of
// ctx.
func (l *Call) Last(ctx context.Context) (tool.Event, error) {
	l.mu.Lock()
	if !l.ended && l.over == nil {
		l.over = make(chan struct{})
	}
	ended, over := l.ended, l.over
	l.mu.Unlock()
	if !ended {
		select {
		case <-over:
		case <-ctx.Done():
			return tool.Event{}, context.Cause(ctx)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events[len(l.events)-1], nil
}

// firstLocked returns the first event after a number, or nil.
func (l *Call) firstLocked(after uint64) *tool.Event {
	early, late := l.started, l.folded
	if early != nil && late != nil && early.Seq > late.Seq {
		early, late = late, early
	}
	for _, ev := range []*tool.Event{early, late} {
		if ev != nil && ev.Seq > after {
			return ev
		}
	}
	if after >= l.seq {
		return nil
	}
	begin := l.events[0].Seq
	return &l.events[max(after+1, begin)-begin]
}

// Outcome returns how the call ended, and when. The outcome is nil while the call runs.
func (l *Call) Outcome() (*tool.Outcome, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		return nil, time.Time{}
	}
	last := &l.events[len(l.events)-1]
	return last.Ended, last.Time
}

// Instance returns the instance that has or last had the call; empty: no instance has had it.
func (l *Call) Instance() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.events) - 1; i >= 0; i-- {
		if s := l.events[i].Started; s != nil {
			return s.Instance
		}
	}
	if l.started != nil {
		return l.started.Started.Instance
	}
	return ""
}

// Size returns the approximate memory that the log takes, in bytes.
func (l *Call) Size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// eventSize returns the approximate memory that an event takes, in bytes.
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
		return fixed + OutcomeSize(ev.Ended)
	default:
		return fixed
	}
}

// OutcomeSize returns the approximate memory that an outcome takes, in bytes.
func OutcomeSize(o *tool.Outcome) int {
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
