package logging

import (
	"log/slog"
	"sync"
	"time"
)

const (
	// repeatBurst is the number of equal records that are written at once.
	repeatBurst = 20
	// repeatEvery is the time after which one more equal record is written.
	repeatEvery = time.Second
	// reportAfter is the time after which the number of records that were left out is written, if no
	// equal record is written before.
	reportAfter = 10 * time.Second
	// maxKinds bounds the kinds of records that are counted at a time.
	maxKinds = 2048
)

// repeats limits how often equal records are written, such as that of a filter that fails in each
// of a thousand calls a second. Records are equal if they have the same subsystem, plugin, level
// and message. The messages of this program are constants, so there are few. The zero value is
// ready for use. It is safe for concurrent use.
type repeats struct {
	mu    sync.Mutex
	kinds map[kind]*repeat
}

type kind struct {
	subsystem, plugin, message string
	level                      slog.Level
}

// repeat counts the equal records of one kind.
type repeat struct {
	used       float64   // how much of repeatBurst is used
	at         time.Time // the time for which used is right
	suppressed int       // since a record of the kind was written
	last       entry     // the last one that was left out
}

// admit reports whether an entry is written, and how many equal ones were left out before it. If
// there are too many kinds, admit forgets all of them and returns in late what overdue would
// return.
func (r *repeats) admit(e *entry) (suppressed int, admitted bool, late []entry) {
	k := kind{e.subsystem, e.plugin, e.message, e.level}
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.kinds[k]
	if one == nil {
		if r.kinds == nil || len(r.kinds) >= maxKinds {
			late = r.leftOut(e.time)
			r.kinds = map[kind]*repeat{}
		}
		one = &repeat{at: e.time}
		r.kinds[k] = one
	}
	one.used = max(0, one.used-float64(e.time.Sub(one.at))/float64(repeatEvery))
	one.at = e.time
	if one.used+1 > repeatBurst {
		one.suppressed++
		one.last = *e
		return 0, false, late
	}
	one.used++
	suppressed, one.suppressed = one.suppressed, 0
	return suppressed, true, late
}

// overdue returns the last entry of each kind of which entries were left out, with their number,
// and forgets kinds that have not repeated for a while.
func (r *repeats) overdue(now time.Time) []entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.leftOut(now)
}

// leftOut is overdue for a caller that holds mu.
func (r *repeats) leftOut(now time.Time) (late []entry) {
	for k, one := range r.kinds {
		if one.suppressed > 0 {
			e := one.last
			e.fields = append(e.fields, slog.Int(Suppressed, one.suppressed-1)) // without this one
			late = append(late, e)
			one.suppressed, one.last = 0, entry{}
		} else if now.Sub(one.at) > repeatBurst*repeatEvery {
			delete(r.kinds, k)
		}
	}
	return late
}
