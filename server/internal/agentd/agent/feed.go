package agent

import (
	"context"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
)

// feedLength is the largest number of events that a run keeps for its watchers. A watcher that is
// further behind reads the journal.
const feedLength = 512

// feedBytes bounds the text in the passing events that a run keeps for its watchers, in bytes. The
// oldest ones give way. The durable events need no such bound: their content is also in the state.
const feedBytes = 1 << 20

// feed distributes a run's events to any number of watchers. It keeps the last events, and each
// watcher has a position among them. So the feed never waits for a watcher.
type feed struct {
	mu      sync.Mutex
	begun   bool
	log     []loop.Event  // recent events, in order
	floor   uint64        // every durable event after this is in log
	last    uint64        // the last durable event
	index   uint64        // passing events since last
	bytes   int           // of text in the passing events in log
	changed chan struct{} // closed at the next change; nil without a waiting watcher
	done    bool
	err     error // why the run stopped before its end; nil if it finished
}

// place is a watcher's position: the last durable event that it saw, and the last passing event
// after that.
type place struct{ seq, index uint64 }

func (p place) before(e loop.Event) bool {
	if e.Durable() {
		return e.Seq > p.seq
	}
	return e.Seq > p.seq+1 || e.Seq == p.seq+1 && e.Index > p.index
}

func (p *place) advance(e loop.Event) {
	if e.Durable() {
		*p = place{seq: e.Seq}
	} else {
		*p = place{seq: e.Seq - 1, index: e.Index}
	}
}

// begin sets the end of the journal.
func (f *feed) begin(last uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun, f.floor, f.last = true, last, last
	f.wake()
}

// position returns the Seq of the last durable event.
func (f *feed) position() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// publish adds durable events. They must be in the journal already.
func (f *feed) publish(events ...loop.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		f.last, f.index = e.Seq, 0
		f.add(e)
	}
}

// pass adds a passing event.
func (f *feed) pass(p loop.Payload) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index++
	f.addPassing(loop.Event{Seq: f.last + 1, Index: f.index, Time: time.Now(), Payload: p})
}

// relay adds an event of the agent that works on the run. Of a durable one, it only notes the
// position, so that watchers read the journal.
func (f *feed) relay(e loop.Event) {
	if e.Durable() {
		f.moveTo(e.Seq)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Seq == f.last+1 && e.Index > f.index { // else it is late
		f.index = e.Index
		f.addPassing(e)
	}
}

// moveTo notes that the journal has events up to a Seq. The passing events before it are void.
func (f *feed) moveTo(seq uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if seq > f.last {
		f.last, f.floor, f.index = seq, seq, 0
		f.log, f.bytes = nil, 0
		f.wake()
	}
}

func (f *feed) addPassing(e loop.Event) {
	p := e.Payload
	if _, answer := p.(*loop.AnswerDelta); answer {
		f.drop(func(e *loop.Event) bool { return e.Payload.Type() == loop.TypeAnswerDelta }) // the new one replaces it
	}
	if f.bytes+sizeOf(p) > feedBytes {
		// Dropping half at once amortizes the cost of moving the rest.
		f.drop(func(*loop.Event) bool { return f.bytes > feedBytes/2 })
	}
	f.bytes += sizeOf(p)
	f.add(e)
}

// drop removes the passing events for which gone returns true. It asks in order, the oldest first.
func (f *feed) drop(gone func(*loop.Event) bool) {
	f.log = slices.DeleteFunc(f.log, func(e loop.Event) bool {
		if e.Durable() || !gone(&e) {
			return false
		}
		f.bytes -= sizeOf(e.Payload)
		return true
	})
}

// sizeOf returns the bytes of text in a passing event.
func sizeOf(p loop.Payload) int {
	switch p := p.(type) {
	case *loop.TextDelta:
		return len(p.Text)
	case *loop.ReasoningDelta:
		return len(p.Text)
	case *loop.ArgumentDelta:
		return len(p.Tool) + len(p.Text)
	case *loop.AnswerDelta:
		return len(p.Answer)
	case *loop.CallStatus:
		return len(p.Tool) + len(p.Status.Message) + len(p.Status.Parameters) + len(p.Status.Result)
	case *loop.TurnReset:
		return len(p.Reason)
	}
	return 0
}

func (f *feed) add(e loop.Event) {
	if len(f.log) >= feedLength {
		// Dropping half at once amortizes the cost of moving the rest.
		gone := f.log[:feedLength/2]
		for _, old := range gone {
			if old.Durable() {
				f.floor = old.Seq
			} else {
				f.bytes -= sizeOf(old.Payload)
			}
		}
		f.log = slices.Clone(f.log[feedLength/2:])
	}
	f.log = append(f.log, e)
	f.wake()
}

// end says that no event follows.
func (f *feed) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done, f.err = true, err
	f.wake()
}

func (f *feed) wake() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

// after returns the events after a position, and waits until there are some. behind means that the
// watcher has to read the journal up to floor first. No events and no error mean that the run has
// finished.
func (f *feed) after(ctx context.Context, at place) (events []loop.Event, floor uint64, behind bool, err error) {
	for {
		events, floor, behind, wait, err := f.look(at)
		if wait == nil {
			return events, floor, behind, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, 0, false, ctx.Err()
		}
	}
}

func (f *feed) look(at place) (events []loop.Event, floor uint64, behind bool, wait <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.begun && at.seq < f.floor:
		return nil, f.floor, true, nil, nil
	case f.begun:
		if i := sort.Search(len(f.log), func(i int) bool { return at.before(f.log[i]) }); i < len(f.log) {
			return slices.Clone(f.log[i:]), 0, false, nil, nil
		}
	}
	if f.done {
		return nil, 0, false, nil, f.err
	}
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return nil, 0, false, f.changed, nil
}
