package flow_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/wire/flow"
)

func noGrant(int) {}

func TestInboxKeepsOrderAndEnds(t *testing.T) {
	b := flow.NewInbox[string](100, noGrant)
	for _, s := range []string{"a", "b"} {
		if err := b.Put(s, 1); err != nil {
			t.Fatal(err)
		}
	}
	if !b.Finish(io.EOF, "last") || b.Finish(errGone) {
		t.Error("not exactly the first Finish counts")
	}
	if err := b.Put("late", 1); !errors.Is(err, flow.ErrFinished) {
		t.Errorf("Put after the end: %v", err)
	}
	var got []string
	for {
		s, err := b.Next(t.Context())
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Errorf("the end is %v", err)
			}
			break
		}
		got = append(got, s)
	}
	if diff := cmp.Diff([]string{"a", "b", "last"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := b.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

func TestInboxAbortDropsQueuedItems(t *testing.T) {
	for _, finished := range []bool{false, true} {
		b := flow.NewInbox[int](100, noGrant)
		if err := b.Put(1, 1); err != nil {
			t.Fatal(err)
		}
		want := errGone
		if finished {
			b.Finish(io.EOF, 2)
			want = io.EOF
		}
		if first := b.Abort(errGone); first == finished {
			t.Errorf("finished %v: Abort says first: %v", finished, first)
		}
		if _, err := b.Next(t.Context()); !errors.Is(err, want) {
			t.Errorf("finished %v: Next says %v", finished, err)
		}
	}
}

// A sender that follows the credit rule is never refused and never starves, and receives credit in
// large portions.
func TestInboxGrants(t *testing.T) {
	const window, items = 1000, 10_000
	credit, grants := window, 0
	b := flow.NewInbox[int](window, func(n int) {
		credit += n
		grants++
	})
	sent := 0
	for taken := range items {
		for sent < items && credit > 0 {
			size := 1 + sent*7919%300
			credit -= size
			if err := b.Put(sent, size); err != nil {
				t.Fatalf("item %d: %v", sent, err)
			}
			sent++
		}
		if got, err := b.Next(t.Context()); got != taken || err != nil {
			t.Fatalf("took %d, %v, want %d", got, err, taken)
		}
	}
	if grants == 0 || grants > items/3 {
		t.Errorf("%d grants for %d items", grants, items)
	}
}

func TestInboxRefusesOverruns(t *testing.T) {
	for _, size := range []int{10, 11} {
		b := flow.NewInbox[int](10, noGrant)
		if err := b.Put(1, size); err != nil {
			t.Fatalf("a frame may take the credit below zero: %v", err)
		}
		if err := b.Put(2, 0); !errors.Is(err, flow.ErrOverrun) {
			t.Errorf("without credit, after %d of 10: %v", size, err)
		}
	}
}

func TestInboxNextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := flow.NewInbox[int](10, noGrant)
		got := make(chan int, 1)
		next := func(ctx context.Context) {
			v, err := b.Next(ctx)
			if err != nil {
				v = -1
			}
			got <- v
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		go next(ctx)
		synctest.Wait()
		cancel(errGone)
		if v := <-got; v != -1 {
			t.Errorf("got %d of an empty inbox", v)
		}
		if err := b.Put(7, 1); err != nil {
			t.Fatal(err)
		}
		next(t.Context())
		if v := <-got; v != 7 {
			t.Errorf("got %d, want 7", v)
		}
		go next(t.Context())
		synctest.Wait()
		if err := b.Put(8, 1); err != nil {
			t.Fatal(err)
		}
		if v := <-got; v != 8 {
			t.Errorf("got %d, want 8", v)
		}
		go next(t.Context())
		synctest.Wait()
		b.Finish(io.EOF)
		if v := <-got; v != -1 {
			t.Errorf("got %d after the end", v)
		}
	})
}

func TestInboxAllocatesNothingPerItem(t *testing.T) {
	b := flow.NewInbox[int](1<<30, noGrant)
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() {
		_ = b.Put(1, 1)
		_ = b.Put(2, 1)
		_, _ = b.Next(ctx)
		_, _ = b.Next(ctx)
	}); n > 0 {
		t.Errorf("%v allocations for two items", n)
	}
	_ = b.Put(0, 1) // not empty from here on
	if n := testing.AllocsPerRun(10_000, func() {
		_ = b.Put(1, 1)
		_, _ = b.Next(ctx)
	}); n > 0 {
		t.Errorf("%v allocations for an item of a queue that is never empty", n)
	}
}

// Most calls are answered with one item. An inbox has memory for one, so that these calls allocate
// none.
func TestInboxOfOneItemHasItsMemory(t *testing.T) {
	var b *flow.Inbox[int]
	if n := testing.AllocsPerRun(100, func() {
		b = flow.NewInbox[int](100, noGrant)
		b.Finish(io.EOF, 1)
		if item, err := b.Next(t.Context()); item != 1 || err != nil {
			t.Errorf("%d, %v", item, err)
		}
	}); n > 1 {
		t.Errorf("it makes %v allocations, want that of the inbox", n)
	}
}
