package flow_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/internal/wire/flow"
)

var errGone = errors.New("gone")

func TestCreditMayGoBelowZeroOnce(t *testing.T) {
	c := flow.NewCredit(1)
	if !c.TryAcquire(100) {
		t.Fatal("no frame with positive credit")
	}
	if c.TryAcquire(1) {
		t.Error("a frame with negative credit")
	}
	c.Grant(99)
	if c.TryAcquire(1) {
		t.Error("a frame with a credit of 0")
	}
	c.Grant(1)
	if !c.TryAcquire(1) {
		t.Error("no frame after the grant")
	}
}

func TestCreditServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := flow.NewCredit(0)
		order := make(chan int, 3)
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				if err := c.Acquire(t.Context(), 10); err != nil {
					t.Error(err)
				}
				order <- i
			})
			synctest.Wait()
		}
		for want := range 3 {
			c.Grant(10)
			synctest.Wait()
			select {
			case got := <-order:
				if got != want {
					t.Errorf("served %d, want %d", got, want)
				}
			default:
				t.Errorf("nobody was served by grant %d", want)
			}
		}
		wg.Wait()
	})
}

func TestCreditWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := flow.NewCredit(0)
		ctx, cancel := context.WithCancelCause(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- c.Acquire(ctx, 5) }()
		synctest.Wait()
		go func() { second <- c.Acquire(t.Context(), 5) }()
		synctest.Wait()
		cancel(errGone)
		if err := <-first; !errors.Is(err, errGone) {
			t.Errorf("the waiter got %v", err)
		}
		c.Grant(1)
		if err := <-second; err != nil {
			t.Errorf("the one behind it got %v", err)
		}
		c.Grant(4) // -4 + 4: the canceled waiter took nothing
		if c.TryAcquire(1) {
			t.Error("credit was counted twice")
		}
		c.Grant(1)
		if !c.TryAcquire(1) {
			t.Error("credit was lost")
		}
	})
}

func TestCreditClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := flow.NewCredit(0)
		got := make(chan error, 1)
		go func() { got <- c.Acquire(t.Context(), 1) }()
		synctest.Wait()
		c.Close(errGone)
		c.Close(errors.New("too late"))
		c.Grant(10)
		if err := <-got; !errors.Is(err, errGone) {
			t.Errorf("the waiter got %v", err)
		}
		if err := c.Acquire(t.Context(), 1); !errors.Is(err, errGone) {
			t.Errorf("a later one got %v", err)
		}
		if c.TryAcquire(1) {
			t.Error("credit after Close")
		}
	})
}

func TestCreditUnderContention(t *testing.T) {
	c := flow.NewCredit(1)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 500 {
				ctx, cancel := context.WithCancel(t.Context())
				go cancel()
				if err := c.Acquire(ctx, 1); err == nil {
					c.Grant(1)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if !c.TryAcquire(1) || c.TryAcquire(1) {
		t.Error("credit was lost or made")
	}
}
