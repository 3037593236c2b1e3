package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// The kinds of statements for Config.Took. A group that begins calls may end others, too.
const (
	beginStatement = "begin"
	endStatement   = "end" // or forget or settle
	findStatement  = "find"
	beatStatement  = "beat"
)

func kindOf(group []*op) string {
	kind := beatStatement
	for _, o := range group {
		if o.verb == verbBegin {
			return beginStatement
		}
		kind = endStatement
	}
	return kind
}

// censusEvery is how often a node counts the others: several beats, so that one that lives has
// written.
const censusEvery = 5 * beatEvery

// Census is how many nodes the ledger has, by state.
type Census struct{ Up, Silent, Gone int }

// Census returns how many nodes this one saw in the last seconds. known is false while the database
// does not answer, and in the first seconds.
func (s *Store) Census() (c Census, known bool) {
	if found := s.census.Load(); found != nil && s.Unreachable().IsZero() {
		return *found, true
	}
	return Census{}, false
}

// Beaten returns when this node last wrote to the database that it lives.
func (s *Store) Beaten() time.Time { return *s.beaten.Load() }

// takeCensus counts the nodes. One whose beats are those of the last census is silent.
func (w *writer) takeCensus(ctx context.Context) error {
	w.censusDue = time.Now().Add(censusEvery) // also after an error
	rows, err := w.conn.Query(ctx, "SELECT n.node, n.gone IS NOT NULL, coalesce(b.count, 0) FROM toolhost_nodes n LEFT JOIN toolhost_beats b USING (node)")
	if err != nil {
		return postgres.Error(err)
	}
	var c Census
	var node, count int64
	var gone bool
	counts := map[int64]int64{}
	_, err = pgx.ForEachRow(rows, []any{&node, &gone, &count}, func() error {
		before, seen := w.counts[node]
		switch {
		case gone:
			c.Gone++
			return nil
		case seen && before == count:
			c.Silent++
		default:
			c.Up++
		}
		counts[node] = count
		return nil
	})
	if err != nil {
		return postgres.Error(err)
	}
	if w.counts != nil {
		w.store.census.Store(&c)
	}
	w.counts = counts
	return nil
}
