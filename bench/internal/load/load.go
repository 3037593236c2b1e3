// Package load puts load on something and says how long it took: N callers that each make one call after the other for a
// while. It knows nothing of what is called.
package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Sample is what one run of a load measured.
type Sample struct {
	Calls int           // how many calls ended in it
	P50   time.Duration // the median time of a call
	P99   time.Duration // what 99 in 100 calls stayed below
	Rate  float64       // calls in a second
	CPU   time.Duration // what 10,000 calls cost in processor time, everywhere; 0: not measured
}

// Run lets so many callers call do for the time given, and returns what they saw. The first error ends it.
func Run(ctx context.Context, callers int, length time.Duration, do func(context.Context) error) (Sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var over atomic.Bool
	timer := time.AfterFunc(length, func() { over.Store(true) })
	defer timer.Stop()
	times := make([][]time.Duration, callers)
	var callersDone sync.WaitGroup
	begin := time.Now()
	for i := range callers {
		callersDone.Go(func() { // ends when the time is over, or with the first error
			mine := make([]time.Duration, 0, 1<<12)
			for !over.Load() {
				start := time.Now()
				if err := do(ctx); err != nil {
					cancel(err)
					over.Store(true)
					return
				}
				mine = append(mine, time.Since(start))
			}
			times[i] = mine
		})
	}
	callersDone.Wait()
	took := time.Since(begin)
	if err := context.Cause(ctx); err != nil {
		return Sample{}, fmt.Errorf("calling: %w", err)
	}
	return sample(slices.Concat(times...), took), nil
}

// Paced makes so many calls one after the other with a pause between them, and returns what they took.
func Paced(ctx context.Context, calls int, pause time.Duration, do func(context.Context) error) (Sample, error) {
	all := make([]time.Duration, 0, calls)
	begin := time.Now()
	for range calls {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return Sample{}, ctx.Err()
		}
		start := time.Now()
		if err := do(ctx); err != nil {
			return Sample{}, fmt.Errorf("calling: %w", err)
		}
		all = append(all, time.Since(start))
	}
	return sample(all, time.Since(begin)), nil
}

func sample(all []time.Duration, took time.Duration) Sample {
	if len(all) == 0 {
		return Sample{}
	}
	slices.Sort(all)
	return Sample{Calls: len(all), P50: all[len(all)/2], P99: all[len(all)*99/100], Rate: float64(len(all)) / took.Seconds()}
}
