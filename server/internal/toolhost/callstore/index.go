package callstore

import (
	"context"
	"database/sql"
	"sync"
)

// index contains every id in the file, so that looking for an id reads nothing from the file. The
// index also keeps ids unique: the tables of the file have no index, and only one writer adds ids.
type index struct {
	mu      sync.RWMutex
	numbers map[Hash]int64
}

func loadIndex(ctx context.Context, db *sql.DB) (*index, error) {
	var span int64
	if err := db.QueryRowContext(ctx, "SELECT ifnull((SELECT max(number) FROM calls) - (SELECT min(number) FROM calls) + 1, 0)").Scan(&span); err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT number, hash FROM calls")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	// The span includes the numbers of forgotten calls, so it may be much larger than the map.
	// Beyond a million, letting the map grow costs less.
	x := &index{numbers: make(map[Hash]int64, min(span, 1_000_000))}
	var number int64
	var raw sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&number, &raw); err != nil {
			return nil, err
		}
		if len(raw) != len(Hash{}) {
			return nil, ErrDamaged
		}
		x.numbers[Hash(raw)] = number
	}
	return x, rows.Err()
}

func (x *index) find(key Hash) (number int64, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	number, ok = x.numbers[key]
	return number, ok
}

func (x *index) len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.numbers)
}

// apply adds the ids whose number is not 0, and removes those whose number is 0.
func (x *index) apply(changes map[Hash]int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for key, number := range changes {
		if number == 0 {
			delete(x.numbers, key)
		} else {
			x.numbers[key] = number
		}
	}
}
