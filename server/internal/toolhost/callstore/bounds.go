package callstore

import (
	"errors"
	"time"
)

// Bounds are the bounds of a store.
type Bounds struct {
	MaxIDs   int   // how many calls the store keeps; 0: 5,000,000
	MaxBytes int64 // bounds all results together; 0: 256 MiB
	// the largest stored result in bytes; must not exceed an eighth of MaxBytes; 0: 16 MiB
	MaxResult int
	// from the beginning of a call until it is forgotten; longer than any call lasts; 0: seven days
	KeepIDs     time.Duration
	KeepResults time.Duration // from the end of a call until its result is removed; 0: one day
}

// MaxArguments bounds the arguments that a store keeps of one call, in bytes. All together may have
// as many bytes as ArgumentBytes returns.
const MaxArguments = 1 << 20

// ArgumentBytes returns the bound of the arguments that the store keeps of all calls.
func (b Bounds) ArgumentBytes() int64 { return b.MaxBytes / ResultShare }

// WithDefaults returns the bounds with the defaults in place of zeros. It returns an error if a
// bound is negative.
func (b Bounds) WithDefaults() (Bounds, error) {
	if b.MaxIDs < 0 || b.MaxBytes < 0 || b.MaxResult < 0 || b.KeepIDs < 0 || b.KeepResults < 0 {
		return b, errors.New("a bound is negative")
	}
	orDefault(&b.MaxIDs, 5_000_000)
	orDefault(&b.MaxBytes, 256<<20)
	orDefault(&b.MaxResult, 16<<20)
	orDefault(&b.KeepIDs, 7*24*time.Hour)
	orDefault(&b.KeepResults, 24*time.Hour)
	b.MaxResult = int(min(int64(b.MaxResult), b.MaxBytes/ResultShare))
	return b, nil
}

// Forgets reports whether a store with these bounds may have forgotten, at a time, a call that was
// first sent at another time, because calls of that age are removed. It allows for a clock
// correction of a hundredth of KeepIDs.
func (b Bounds) Forgets(now, sent time.Time) bool {
	return now.Sub(sent) > b.KeepIDs-b.KeepIDs/100
}

func orDefault[T int | int64 | time.Duration](value *T, otherwise T) {
	if *value == 0 {
		*value = otherwise
	}
}
