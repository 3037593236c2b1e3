package gomaxprocs

import (
	"math"
	"runtime/metrics"
	"time"
)

// sampled is the runtime's sampling rate: the runtime measures one in this number of changes of a
// goroutine's state.
const sampled = 8

// waiting reads how long goroutines wait for a processor. It reuses the memory of the samples.
type waiting struct {
	sample [1]metrics.Sample
}

// read returns how long all goroutines together have waited since the start of the process,
// estimated from the runtime's histogram of samples.
func (w *waiting) read() time.Duration {
	w.sample[0].Name = "/sched/latencies:seconds"
	metrics.Read(w.sample[:])
	if w.sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0 // this runtime does not have the metric
	}
	h := w.sample[0].Value.Float64Histogram()
	total := 0.0
	for i, count := range h.Counts {
		if low := h.Buckets[i]; count > 0 && !math.IsInf(low, 0) {
			total += low * float64(count)
		}
	}
	return time.Duration(total * sampled * float64(time.Second))
}

// clock returns the time of day as a duration.
func clock() time.Duration { return time.Duration(time.Now().UnixNano()) }
