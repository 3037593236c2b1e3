package flow_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/internal/wire/flow"
)

func TestWorkersRunAtOnce(t *testing.T) {
	var w flow.Workers
	const n = 200 // more than are kept idle
	var all sync.WaitGroup
	all.Add(n)
	for range n {
		w.Go(func() { // each function waits for all others, so each needs its own goroutine
			all.Done()
			all.Wait()
		})
	}
	all.Wait()
	w.Close()
}

func TestWorkersAreUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w flow.Workers
		goroutines := map[string]int{}
		for range 1000 {
			w.Go(func() { goroutines[goroutine()]++ })
			synctest.Wait()
		}
		if len(goroutines) != 1 {
			t.Errorf("%d goroutines ran 1000 functions, one after the other; one is enough", len(goroutines))
		}
		w.Close()
	})
}

// Waking a goroutine for each of many short functions costs more than the functions. A function
// that the scheduler interrupts is not shared; this does not happen a hundred times in a row.
func TestWorkersShareShortFunctions(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that all functions are queued before one runs
	const n, tries = 20, 100
	fewest := n
	for range tries {
		var w flow.Workers
		var mu sync.Mutex
		goroutines, ran := map[string]bool{}, 0
		for range n {
			w.Go(func() {
				mu.Lock()
				defer mu.Unlock()
				goroutines[goroutine()] = true
				ran++
			})
		}
		w.Close()
		if fewest = min(fewest, len(goroutines)); ran != n {
			t.Fatalf("%d of %d functions ran", ran, n)
		}
	}
	if fewest > 2 {
		t.Errorf("%d functions ran in %d goroutines, want 2: one, and who was woken beside it", n, fewest)
	}
}

// A function may end its goroutine with runtime.Goexit, as testing.T.FailNow does.
func TestWorkersSurviveGoexit(t *testing.T) {
	var w flow.Workers
	var ran atomic.Int32
	for range 10 {
		w.Go(func() { ran.Add(1); runtime.Goexit() })
	}
	w.Close()
	if ran.Load() != 10 {
		t.Errorf("%d of 10 ran", ran.Load())
	}
}

func BenchmarkWorkers(b *testing.B) {
	deep := func() { // as deep as the stack of a call
		var grow func(n int) byte
		grow = func(n int) byte {
			var frame [512]byte
			if n == 0 {
				return frame[0]
			}
			return grow(n-1) + frame[n]
		}
		grow(16)
	}
	b.Run("again", func(b *testing.B) {
		var w flow.Workers
		for b.Loop() {
			var done sync.WaitGroup
			done.Add(1)
			w.Go(func() { deep(); done.Done() })
			done.Wait()
		}
		w.Close()
	})
	b.Run("together", func(b *testing.B) {
		var w flow.Workers
		for b.Loop() {
			var done sync.WaitGroup
			done.Add(10)
			for range 10 {
				w.Go(func() { deep(); done.Done() })
			}
			done.Wait()
		}
		w.Close()
	})
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			var done sync.WaitGroup
			done.Go(deep)
			done.Wait()
		}
	})
}
