package runstore

import (
	"context"
	"time"
)

// Spent is what models and tools used on one day, and what was attached.
type Spent struct {
	Day      int64 // days since 1970, UTC
	Tokens   int64
	Cost     float64
	Attached int64 // bytes of attachments
}

// IsZero reports whether nothing was used.
func (s Spent) IsZero() bool { return s.Tokens == 0 && s.Cost == 0 && s.Attached == 0 }

// Add returns the sum of what two batches of one day used.
func (s Spent) Add(more Spent) Spent {
	s.Tokens, s.Cost, s.Attached = s.Tokens+more.Tokens, s.Cost+more.Cost, s.Attached+more.Attached
	return s
}

// Day returns the day of a time.
func Day(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

// Spending is an additional interface of stores that know what the owners of runs spend. A store
// adds Batch.Spent to the sum of its day together with the append, so that a restart loses nothing
// and counts nothing twice. It is safe for concurrent use.
type Spending interface {
	// Spent returns what the owner or the tenant of a query has spent on a day.
	Spent(ctx context.Context, day int64, of Query) (Spent, error)
}
