package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

var _ runstore.Outbox = (*Store)(nil)

// messageArguments adds the arguments of addMessages.
func messageArguments(arguments pgx.NamedArgs, messages []runstore.Message) {
	n := len(messages)
	ids, kinds, seqs, asked, targets := make([]string, n), make([]string, n), make([]int64, n), make([]string, n), make([]string, n)
	times, dues, untils := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range messages {
		m := &messages[i]
		ids[i], kinds[i], seqs[i], asked[i], targets[i] = m.ID, m.Kind, int64(m.Seq), m.Decision, m.Target
		times[i], dues[i], untils[i] = m.Created.UnixNano(), m.Due.UnixNano(), m.Until.UnixNano()
	}
	arguments["message_ids"], arguments["kinds"], arguments["seqs"], arguments["asked"] = ids, kinds, seqs, asked
	arguments["targets"], arguments["message_times"], arguments["dues"], arguments["untils"] = targets, times, dues, untils
}

// Take implements runstore.Outbox.
func (s *Store) Take(ctx context.Context, target string, now, lease time.Time) (m runstore.Message, ok bool, err error) {
	err = s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var created, due, until int64
		err := conn.QueryRow(ctx, `UPDATE agentd_outbox SET due = $3, attempts = attempts + 1
	WHERE id = (SELECT id FROM agentd_outbox WHERE target = $1 AND due <= $2 ORDER BY due, id LIMIT 1 FOR UPDATE SKIP LOCKED)
	RETURNING id, kind, run, seq, decision, target, created, due, until, attempts`, target, now.UnixNano(), lease.UnixNano()).
			Scan(&m.ID, &m.Kind, &m.RunID, &m.Seq, &m.Decision, &m.Target, &created, &due, &until, &m.Attempts)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		m.Created, m.Due, m.Until = time.Unix(0, created).UTC(), time.Unix(0, due).UTC(), time.Unix(0, until).UTC()
		ok = err == nil
		return err
	})
	if err != nil {
		return runstore.Message{}, false, s.failed("taking a message for "+target, err)
	}
	return m, ok, nil
}

// Delay implements runstore.Outbox.
func (s *Store) Delay(ctx context.Context, id string, due time.Time) error {
	_, err := s.changeOutbox(ctx, "UPDATE agentd_outbox SET due = $2 WHERE id = $1", id, due.UnixNano())
	return err
}

// Remove implements runstore.Outbox.
func (s *Store) Remove(ctx context.Context, id string) error {
	_, err := s.changeOutbox(ctx, "DELETE FROM agentd_outbox WHERE id = $1", id)
	return err
}

// Trim implements runstore.Outbox.
func (s *Store) Trim(ctx context.Context, now time.Time, most int) (int, error) {
	return s.changeOutbox(ctx, `DELETE FROM agentd_outbox WHERE until <= $1
	OR id IN (SELECT id FROM agentd_outbox ORDER BY until DESC, id DESC OFFSET $2)`, now.UnixNano(), most)
}

// changeOutbox executes a statement, and returns how many messages it has changed.
func (s *Store) changeOutbox(ctx context.Context, statement string, arguments ...any) (changed int, err error) {
	err = s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, statement, arguments...)
		changed = int(tag.RowsAffected())
		return err
	})
	if err != nil {
		return 0, s.failed("changing the outbox", err)
	}
	return changed, nil
}
