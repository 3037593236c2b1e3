package budget

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
)

const mib = 1 << 20

func open(t *testing.T, b *Budget, name string) *Account {
	t.Helper()
	a, err := b.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func exhausted(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*ExhaustedError](err); !ok {
		t.Fatalf("got %v, want that there is no room", err)
	}
}

// A principal that uses its whole share leaves room for others. Its own connections keep their
// shares as well.
func TestOnePrincipalLeavesRoomForOthers(t *testing.T) {
	b := New(64*mib, 20*mib)
	greedy, modest, other := open(t, b, "a"), open(t, b, "a"), open(t, b, "b")
	var first, second, small, theirs Hold
	first.On(greedy)
	second.On(greedy)
	small.On(modest)
	theirs.On(other)
	if err := first.TryReserve(12 * mib); err != nil {
		t.Fatal(err)
	}
	exhausted(t, second.TryReserve(9*mib))
	if err := second.TryReserve(8 * mib); err != nil {
		t.Fatal(err)
	}
	exhausted(t, small.TryReserve(1*mib))
	if err := small.TryReserve(100 << 10); err != nil {
		t.Errorf("a connection with small calls has no room: %v", err)
	}
	if err := theirs.TryReserve(20 * mib); err != nil {
		t.Errorf("another principal has no room: %v", err)
	}
	first.Release()
	if err := small.TryReserve(1 * mib); err != nil {
		t.Error(err)
	}
	for _, h := range []*Hold{&second, &small, &theirs} {
		h.Release()
	}
	for _, a := range []*Account{greedy, modest, other} {
		a.Close()
	}
	if b.used != 0 || b.opened != 0 || len(b.principals) != 0 {
		t.Errorf("left are %d and %d bytes of %d principals", b.used, b.opened, len(b.principals))
	}
}

// Small calls do not cause the refusal of a large result. A second large result is refused.
func TestOneAmongSmallOnesGetsAll(t *testing.T) {
	b := New(64*mib, 0) // 48 MiB are shared
	var small, large, second Hold
	small.On(open(t, b, "a"))
	large.On(open(t, b, "a"))
	second.On(open(t, b, "b"))
	if err := small.TryReserve(5 * mib); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := large.TryReserve(16 * mib); err != nil {
			t.Fatal(err)
		}
	}
	exhausted(t, second.TryReserve(1*mib))
}

// A reservation of any size succeeds while nothing else is in flight. The largest result, for
// example, has another bound.
func TestOneAloneGetsAll(t *testing.T) {
	b := New(64*mib, 0)
	var alone, second Hold
	alone.On(open(t, b, "a"))
	second.On(open(t, b, "b"))
	for range 10 {
		if err := alone.TryReserve(16 * mib); err != nil {
			t.Fatal(err)
		}
	}
	exhausted(t, second.TryReserve(1*mib))
}

// One principal cannot take all connections.
func TestConnectionsAreBounded(t *testing.T) {
	b := New(64*mib, 0)
	var accounts []*Account
	for {
		a, err := b.Open("a")
		if err != nil {
			exhausted(t, err)
			break
		}
		accounts = append(accounts, a)
	}
	if want := 16 * mib / ConnectionBytes * 2 / 3; len(accounts) != want {
		t.Errorf("%d connections, want %d", len(accounts), want)
	}
	open(t, b, "b")
	var held Hold
	held.On(accounts[0])
	if err := held.TryReserve(1); err != nil {
		t.Fatal(err)
	}
	accounts[0].Close()
	if _, err := b.Open("a"); err == nil {
		t.Error("the share of a closed connection was given away while something of it is reserved")
	}
	held.Release()
	open(t, b, "a")
}

// Calls that each hold a part and want more come to an end, and the oldest gets what it wants.
func TestReservationsThatWaitForEachOtherContinue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(64*mib, 0)
		var all sync.WaitGroup
		var mu sync.Mutex
		done := map[string]bool{}
		for n := range 8 {
			h := &Hold{}
			h.On(open(t, b, fmt.Sprint(n)))
			all.Go(func() {
				defer h.Release()
				for range 24 {
					if err := h.Reserve(t.Context(), mib); err != nil {
						exhausted(t, err)
						return
					}
				}
				mu.Lock()
				defer mu.Unlock()
				done[fmt.Sprint(n)] = true
			})
		}
		all.Wait()
		if len(done) < 2 {
			t.Errorf("of 8 calls %d got what they wanted", len(done))
		}
		if b.used != 0 || len(b.waiters) != 0 {
			t.Errorf("left are %d bytes and %d who wait", b.used, len(b.waiters))
		}
	})
}

// A reservation that gives up has reserved nothing.
func TestAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(64*mib, 0)
		var first, second Hold
		first.On(open(t, b, "a"))
		second.On(open(t, b, "a"))
		if err := first.TryReserve(32 * mib); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		go func() { synctest.Wait(); cancel(cause) }()
		if err := second.Reserve(ctx, 8*mib); !errors.Is(err, cause) {
			t.Errorf("got %v", err)
		}
		first.Release()
		if b.used != 0 {
			t.Errorf("%d bytes are left", b.used)
		}
	})
}

// A hold without an account has room for everything.
func TestWithoutAnAccount(t *testing.T) {
	var h Hold
	h.On(FromContext(t.Context()))
	if err := h.Reserve(t.Context(), 1<<40); err != nil {
		t.Error(err)
	}
	h.Release()
}

// A hold for many things may not take all of the memory while others have none.
func TestABoundHoldLeavesMemory(t *testing.T) {
	b := New(64<<20, 8<<20)
	account, err := b.Open("ada")
	if err != nil {
		t.Fatal(err)
	}
	defer account.Close()
	var call, messages Hold
	call.On(account)
	messages.On(account)
	messages.Bound(10 << 20)
	if err := messages.TryReserve(9 << 20); err != nil {
		t.Errorf("one large message: %v", err)
	}
	if err := messages.TryReserve(2 << 20); err == nil {
		t.Error("messages take more than their bound and their principal's part")
	}
	messages.Release()
	if err := call.TryReserve(40 << 20); err != nil {
		t.Errorf("one large call: %v", err)
	}
	call.Release()
}
