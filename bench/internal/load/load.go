// Package load runs N callers, each of which makes one call after the other for some time, and
// measures the calls. It does not know what is called.
package load

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Sample is the result of one run.
type Sample struct {
	Calls int           // the number of calls that ended
	P50   time.Duration // the median time of a call
	P99   time.Duration // the 99th percentile of the time of a call
	Rate  float64       // calls per second
	CPU   time.Duration // processor time of 10,000 calls in all processes; 0 if not measured
}

// Run lets callers goroutines call do for the given time and returns the measurements. The first
// error stops the run.
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
		callersDone.Go(func() { // ends with the time or with the first error
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

// Paced makes calls one after the other with a pause between them, and returns the time of each.
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
