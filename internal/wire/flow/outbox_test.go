package flow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/wire/flow"
)

// wire is a stream whose peer takes frames only on demand.
type wire struct {
	take chan string   // unbuffered: frames that the peer takes
	gone chan struct{} // closed when the stream has ended
}

// each adapts a function that sends one frame.
func each[T any](send func(T) error) func([]T, uint64) error {
	return func(frames []T, _ uint64) error {
		for _, f := range frames {
			if err := send(f); err != nil {
				return err
			}
		}
		return nil
	}
}

func newWire() *wire { return &wire{take: make(chan string), gone: make(chan struct{})} }

func (w *wire) send(frame string) error {
	select {
	case w.take <- frame:
		return nil
	case <-w.gone:
		return errGone
	}
}

func TestOutboxSendsInOrder(t *testing.T) {
	w := newWire()
	o := flow.NewOutbox(each(w.send), 1<<20)
	for _, f := range []string{"a", "b", "c"} {
		var err error
		if f == "b" {
			err = o.PutNow(f)
		} else {
			err = o.Put(t.Context(), f, 1)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	got := []string{<-w.take, <-w.take, <-w.take}
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" {
		t.Error(diff)
	}
	o.Close()
	o.Close()
	if err := o.Put(t.Context(), "late", 1); !errors.Is(err, flow.ErrClosed) {
		t.Errorf("Put after Close: %v", err)
	}
	if err := o.PutNow("late"); !errors.Is(err, flow.ErrClosed) {
		t.Errorf("PutNow after Close: %v", err)
	}
}

func TestOutboxPutWaitsForRoomAndPutNowDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		o := flow.NewOutbox(each(w.send), 100)
		defer o.Close()
		defer close(w.gone)
		put := func(frame string) { // the first frame goes to send, the second fills the queue
			if err := o.Put(t.Context(), frame, 200); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		}
		put("a")
		put("b")
		ctx, cancel := context.WithCancelCause(t.Context())
		blocked := make(chan error, 2)
		go func() { blocked <- o.Put(ctx, "never", 1) }()
		synctest.Wait()
		cancel(errGone)
		if err := <-blocked; !errors.Is(err, errGone) {
			t.Errorf("Put without room: %v", err)
		}
		go func() { blocked <- o.Put(t.Context(), "d", 1) }()
		synctest.Wait()
		if err := o.PutNow("c"); err != nil {
			t.Errorf("PutNow without room: %v", err)
		}
		select {
		case err := <-blocked:
			t.Errorf("Put did not wait: %v", err)
		default:
		}
		var got []string
		for range 4 {
			got = append(got, <-w.take)
		}
		if diff := cmp.Diff([]string{"a", "b", "c", "d"}, got); diff != "" {
			t.Error(diff)
		}
		if err := <-blocked; err != nil {
			t.Error(err)
		}
	})
}

func TestOutboxEndsWithTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		o := flow.NewOutbox(each(w.send), 1)
		errs := make(chan error, 3)
		for range 3 {
			go func() { errs <- o.Put(t.Context(), "x", 100) }()
			synctest.Wait()
		}
		close(w.gone)
		<-o.Ended()
		if !errors.Is(o.Err(), errGone) {
			t.Errorf("ended with %v", o.Err())
		}
		var failed int
		for range 3 {
			if err := <-errs; errors.Is(err, errGone) {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%d of the Puts failed, want the one that waited", failed)
		}
		o.Close()
		if !errors.Is(o.Err(), errGone) {
			t.Errorf("after Close: %v", o.Err())
		}
	})
}

func TestOutboxEndsWhenUrgentFramesPileUp(t *testing.T) {
	w := newWire()
	o := flow.NewOutbox(each(w.send), 1)
	var err error
	n := 0
	for ; err == nil && n < 1<<20; n++ {
		err = o.PutNow("cancel")
	}
	if !errors.Is(err, flow.ErrStalled) || !errors.Is(o.Err(), flow.ErrStalled) {
		t.Errorf("after %d frames: %v, %v", n, err, o.Err())
	}
	close(w.gone)
	o.Close()
}

func TestOutboxDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire()
		o := flow.NewOutbox(each(w.send), 1<<10)
		for i := range 3 {
			if err := o.Put(t.Context(), fmt.Sprint(i), 1); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		drained := make(chan error, 1)
		go func() { drained <- o.Drain(ctx) }()
		synctest.Wait()
		if err := o.Put(t.Context(), "late", 1); !errors.Is(err, flow.ErrClosed) {
			t.Errorf("Put while draining: %v", err)
		}
		cancel(errGone)
		if err := <-drained; !errors.Is(err, errGone) {
			t.Errorf("Drain beyond its context: %v", err)
		}
		go func() { drained <- o.Drain(t.Context()) }()
		for i := range 3 {
			if got := <-w.take; got != fmt.Sprint(i) {
				t.Errorf("frame %d is %q", i, got)
			}
		}
		if err := <-drained; err != nil {
			t.Errorf("Drain: %v", err)
		}
		o.Close()
	})
	t.Run("idle", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o := flow.NewOutbox(each(newWire().send), 1)
			synctest.Wait()
			if err := o.Drain(t.Context()); err != nil {
				t.Error(err)
			}
			o.Close()
		})
	})
	t.Run("stream ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWire()
			o := flow.NewOutbox(each(w.send), 1)
			if err := o.PutNow("x"); err != nil {
				t.Fatal(err)
			}
			close(w.gone)
			if err := o.Drain(t.Context()); !errors.Is(err, errGone) {
				t.Errorf("Drain: %v", err)
			}
			o.Close()
		})
	})
}

func TestOutboxKeepsEverySendersOrder(t *testing.T) {
	const senders, frames = 8, 2000
	last := make([]int, senders)
	total := 0
	all := make(chan struct{})
	o := flow.NewOutbox(each(func(f [2]int) error {
		if f[1] != last[f[0]]+1 {
			t.Errorf("sender %d: frame %d after %d", f[0], f[1], last[f[0]])
		}
		last[f[0]] = f[1]
		if total++; total == senders*frames {
			close(all)
		}
		return nil
	}), 1000)
	defer o.Close()
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range frames {
				if err := o.Put(t.Context(), [2]int{s, i + 1}, 10); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	<-all
}

// The outbox sends queued frames in batches, up to the limit and in order.
func TestOutboxSendsBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var got [][]string
		o := flow.NewOutbox(func(frames []string, _ uint64) error {
			got = append(got, slices.Clone(frames))
			<-release
			return nil
		}, 1<<20)
		put := func(frames string, size int) {
			for _, f := range frames {
				if err := o.Put(t.Context(), string(f), size); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait() // until send waits for release
		}
		put("a", 1)
		put("bcd", 1)
		release <- struct{}{}
		synctest.Wait()
		o.SetBatchLimit(1000)
		put("efg", 300) // with the overhead of each frame, three exceed the limit
		put("h", 2000)
		put("i", 1)
		if err := o.PutNow("j"); err != nil {
			t.Fatal(err)
		}
		close(release)
		if err := o.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.Close()
		want := [][]string{{"a"}, {"b"}, {"c"}, {"d"}, {"e", "f"}, {"g"}, {"h"}, {"i", "j"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func BenchmarkOutbox(b *testing.B) {
	o := flow.NewOutbox(func([]int, uint64) error { return nil }, 1<<16)
	defer o.Close()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_ = o.Put(b.Context(), 1, 100)
		}
	})
}

// goroutine returns the name of the current goroutine: "goroutine 123 …".
func goroutine() string {
	name := make([]byte, 20)
	return string(name[:runtime.Stack(name, false)])
}

// Put sends in the caller's goroutine only if acks show that the peer reads the stream.
func TestOutboxSendsInTheCallersGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var got []string
		var marks []uint64
		var sender string
		o := flow.NewOutbox(func(frames []string, mark uint64) error {
			mu.Lock()
			defer mu.Unlock()
			got, marks, sender = append(got, frames...), append(marks, mark), goroutine()
			return nil
		}, 1<<20)
		step := func(what, frame string, size int, want bool) {
			t.Helper()
			if err := o.Put(t.Context(), frame, size); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // until the outbox's goroutine is idle
			if now := sender == goroutine(); now != want {
				t.Errorf("%s: sent at once: %v", what, now)
			}
		}
		step("an end that has not said anything", "a", 1, false)
		for guess := range uint64(100) {
			o.Acked(guess)
		}
		step("an end that guesses", "b", 1, false)
		o.Acked(marks[1])
		step("an end that keeps up", "c", 1, true)
		o.Acked(marks[2])
		step("a large frame", "d", 64<<10, false)
		step("behind a large frame", "e", 1, false)
		o.Acked(marks[2])
		o.Acked(marks[0])
		step("an end that has read what was before", "f", 1, false)
		o.Acked(marks[5])
		for i := range 2 {
			step(fmt.Sprint("frame ", i), fmt.Sprint(i), 1, true)
		}
		step("too many that are on their way", "g", 1, false)
		o.Acked(marks[8])
		step("they were read", "h", 1, true)
		o.Close()
		if all := strings.Join(got, ""); all != "abcdef01gh" {
			t.Errorf("sent %q", all)
		}
	})
}
