// Package eventlog keeps the events of calls and of plugins in memory, for any number of readers at
// any time. Call is the log of one call. Plugins is the log of all plugins and their instances.
//
// The package numbers the events, stores them and returns them to readers. It does not decide what
// an event means, and it writes nothing to disk.
package eventlog

import (
	"context"
	"io"
	"slices"
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
	// maxFoldBytes bounds the status into which the log merges discarded statuses, because merging
	// takes time in proportion to the size of both.
	maxFoldBytes = 64 << 10
)

// Call is the event log of one call. Any number of readers can read it from its first event, while
// the call runs and after it has ended. The zero value is an empty log. All methods are safe for
// concurrent use.
//
// The log is bounded. When it is full, it discards the oldest events, but a late reader must still
// learn where the call runs and what its status is. So the log keeps the last discarded Started
// event, and it folds all discarded statuses into one. It also keeps the questions that were open
// in the discarded part, because a late reader may be the one that answers them. A reader therefore
// gets these events out of the discarded part, and then the latest events without a gap.
type Call struct {
	mu      sync.Mutex
	started *tool.Event   // the last discarded Started event; nil: none
	folded  *tool.Event   // all discarded statuses; has the number of the last of them; nil: none
	asked   []tool.Event  // the discarded questions whose Closed was not discarded; in order
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

// Account makes the log reserve memory before it stores more than FreeBytes. reserve reserves a
// number of bytes, and returns false if it cannot. The log then discards its oldest events to make
// room. Account must be called before any other method.
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

// Start adds the event that an instance has received the call.
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

// End adds the outcome. Just before readers can see the outcome, it calls first with the log's
// copy. If the log already has an outcome, End does nothing and does not call first. first must not
// block and must not use the log.
func (l *Call) End(outcome tool.Outcome, first func(*tool.Outcome)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.usual.outcome = outcome
	first(&l.usual.outcome)
	l.publishLocked(tool.Event{Ended: &l.usual.outcome})
}

// Restore turns an empty log into the log of a call of which only the outcome is known. The outcome
// gets the number after the parameter after, so that a reader that has read the events up to that
// number still gets the outcome.
func (l *Call) Restore(outcome tool.Outcome, after uint64) {
	l.mu.Lock()
	l.seq = after
	l.mu.Unlock()
	l.End(outcome, func(*tool.Outcome) {})
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
		case ev.Question != nil:
			l.asked = append(l.asked, *ev)
			l.size += eventSize(ev)
		case ev.Closed != nil:
			l.forgetLocked(ev.Closed.ID)
		}
		l.size -= eventSize(ev)
	}
	if n > 0 {
		l.events = append([]tool.Event(nil), l.events[n:]...)
	}
}

// forgetLocked removes a discarded question that has closed.
func (l *Call) forgetLocked(id uint32) {
	l.asked = slices.DeleteFunc(l.asked, func(ev tool.Event) bool {
		if ev.Question.ID != id {
			return false
		}
		l.size -= eventSize(&ev)
		return true
	})
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

// replaceLocked returns the event that replaces old, and updates the size of the log.
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
	if l.started != nil || l.folded != nil || len(l.asked) > 0 {
		if ev := l.firstKeptLocked(after); ev != nil {
			return ev
		}
	}
	if after >= l.seq {
		return nil
	}
	begin := l.events[0].Seq
	return &l.events[max(after+1, begin)-begin]
}

// firstKeptLocked returns the first event after a number in the discarded part, or nil.
func (l *Call) firstKeptLocked(after uint64) (first *tool.Event) {
	consider := func(ev *tool.Event) {
		if ev != nil && ev.Seq > after && (first == nil || ev.Seq < first.Seq) {
			first = ev
		}
	}
	consider(l.started)
	consider(l.folded)
	for i := range l.asked {
		consider(&l.asked[i])
	}
	return first
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

// Instance returns the instance that executes or last executed the call. Empty means that no
// instance has received it.
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
		return fixed + len(ev.Status.Message) + len(ev.Status.Parameters) + len(ev.Status.Result)
	case ev.Log != nil:
		size := fixed + len(ev.Log.Message)
		for key, value := range ev.Log.Attributes {
			size += len(key) + len(value)
		}
		return size
	case ev.Ended != nil:
		return fixed + OutcomeSize(ev.Ended)
	case ev.Question != nil:
		return fixed + questionSize(ev.Question)
	default:
		return fixed
	}
}

// questionSize returns the approximate memory that a question takes, in bytes.
func questionSize(q *tool.Question) int {
	const fixed = 128
	size := fixed + len(q.CallID) + len(q.Plugin) + len(q.Tool) + len(q.Key)
	if q.Person != nil {
		size += len(q.Person.Message) + len(q.Person.Schema)
	}
	if q.Model != nil {
		size += len(q.Model.System)
		for i := range q.Model.Messages {
			size += fixed + OutcomeSize(&tool.Outcome{Result: tool.Result{Content: q.Model.Messages[i].Content}})
		}
	}
	return size
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
