package sqlite

import (
	"context"
	"database/sql"
	"os"

	"golang.org/x/sys/unix"
)

// Occupy takes all connections of the readers. waiting returns how many readers have waited for
// one.
func (s *Store) Occupy(ctx context.Context) (waiting func() int64, give func(), err error) {
	var taken []*sql.Conn
	give = func() {
		for _, c := range taken {
			_ = c.Close()
		}
	}
	for range maxReaders {
		c, err := s.readers.Conn(ctx)
		if err != nil {
			give()
			return nil, nil, err
		}
		taken = append(taken, c)
	}
	return func() int64 { return s.readers.Stats().WaitCount }, give, nil
}

// SetLock sets a lock as the claims do.
func SetLock(file *os.File, lock *unix.Flock_t) error {
	return unix.FcntlFlock(file.Fd(), setLock, lock)
}
