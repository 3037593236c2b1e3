package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

var _ runstore.Outbox = (*Store)(nil)

func (w *writes) addMessages(ctx context.Context, messages []runstore.Message) error {
	for i := range messages {
		m := &messages[i]
		if _, err := w.tell.ExecContext(ctx, m.ID, m.Kind, m.RunID, int64(m.Seq), m.Decision, m.Target, m.Created.UnixNano(), m.Due.UnixNano(), m.Until.UnixNano()); err != nil {
			return err
		}
	}
	return nil
}

// Take implements runstore.Outbox.
func (s *Store) Take(ctx context.Context, target string, now, lease time.Time) (m runstore.Message, ok bool, err error) {
	err = s.changeOutbox(ctx, func(ctx context.Context, w *writes) error {
		var created, due, until int64
		err := w.take.QueryRowContext(ctx, target, now.UnixNano(), lease.UnixNano()).Scan(&m.ID, &m.Kind, &m.RunID, &m.Seq, &m.Decision, &m.Target, &created, &due, &until, &m.Attempts)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		m.Created, m.Due, m.Until = time.Unix(0, created).UTC(), time.Unix(0, due).UTC(), time.Unix(0, until).UTC()
		ok = err == nil
		return err
	})
	if err != nil { // the write loop may still use the variables
		return runstore.Message{}, false, err
	}
	return m, ok, nil
}

// Delay implements runstore.Outbox.
func (s *Store) Delay(ctx context.Context, id string, due time.Time) error {
	return s.changeOutbox(ctx, func(ctx context.Context, w *writes) error {
		_, err := w.delay.ExecContext(ctx, due.UnixNano(), id)
		return err
	})
}

// Remove implements runstore.Outbox.
func (s *Store) Remove(ctx context.Context, id string) error {
	return s.changeOutbox(ctx, func(ctx context.Context, w *writes) error {
		_, err := w.told.ExecContext(ctx, id)
		return err
	})
}

// Trim implements runstore.Outbox.
func (s *Store) Trim(ctx context.Context, now time.Time, most int) (int, error) {
	var removed int64
	err := s.changeOutbox(ctx, func(ctx context.Context, w *writes) error {
		expired, err := w.expire.ExecContext(ctx, now.UnixNano())
		if err != nil {
			return err
		}
		trimmed, err := w.trim.ExecContext(ctx, most)
		if err != nil {
			return err
		}
		first, _ := expired.RowsAffected() // SQLite always knows
		second, _ := trimmed.RowsAffected()
		removed = first + second
		return nil
	})
	if err != nil {
		return 0, err
	}
	return int(removed), nil
}

func (s *Store) changeOutbox(ctx context.Context, change func(context.Context, *writes) error) error {
	return s.submit(ctx, &request{change: change, done: make(chan error, 1)})
}
