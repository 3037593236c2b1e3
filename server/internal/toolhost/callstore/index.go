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
	next    map[Hash]int64 // what ids get instead, if the transaction that is committed now succeeds
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

// after returns a later number of an id whose number has no row any more; 0: there is none.
func (x *index) after(key Hash, number int64) int64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if later := max(x.next[key], x.numbers[key]); later > number {
		return later
	}
	return 0
}

// announce says what apply may add next. Between the commit and apply, the old row of a call that
// begins again is gone, and its new row is there.
func (x *index) announce(changes map[Hash]int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next = nil // of a transaction that failed
	for key, number := range changes {
		if _, there := x.numbers[key]; !there || number == 0 {
			continue
		}
		if x.next == nil {
			x.next = map[Hash]int64{}
		}
		x.next[key] = number
	}
}

// apply adds the ids whose number is not 0, and removes those whose number is 0.
func (x *index) apply(changes map[Hash]int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next = nil
	for key, number := range changes {
		if number == 0 {
			delete(x.numbers, key)
		} else {
			x.numbers[key] = number
		}
	}
}
