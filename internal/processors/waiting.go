package processors

import (
	"math"
	"runtime/metrics"
	"time"
)

// sampled is of how many changes of a goroutine's state the runtime looks at one.
const sampled = 8

// waiting reads how long goroutines wait for a processor. It keeps the memory that reading takes.
type waiting struct {
	sample [1]metrics.Sample
}

// read returns for how long goroutines have waited since the process began, all together, as far as a histogram of a sample
// tells.
func (w *waiting) read() time.Duration {
	w.sample[0].Name = "/sched/latencies:seconds"
	metrics.Read(w.sample[:])
	if w.sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0 // this runtime does not tell: nothing is known to wait
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

// clock stands for spareTime where that is not known.
func clock() time.Duration { return time.Duration(time.Now().UnixNano()) }
