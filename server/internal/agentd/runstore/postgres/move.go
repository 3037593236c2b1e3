package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// File is a journal in a file that nothing uses; see sqlite.Departure.
type File interface {
	// Rows yields the rows of a query of the file.
	Rows(ctx context.Context, query string) iter.Seq2[[]any, error]
	// Leave makes the file unusable for good.
	Leave(ctx context.Context, id, address string) error
}

// Move says how the runs of a file come into a database. Database.URL is required.
type Move struct {
	Database postgres.Config
	// Left and At are what an earlier move, which was interrupted, has left in the file. Empty: none.
	Left, At string
	// Check copies and compares everything, and then takes it back.
	Check bool
	// Before is called before each step that others can see; an error ends the move there. It is for
	// tests; nil: none.
	Before func(step Step) error
}

// Step is a part of a move.
type Step string

// The steps of a move, in order.
const (
	StepReserve Step = "reserving numbers"
	StepCopy    Step = "copying the runs"
	StepNote    Step = "noting the move in the database"
	StepLeave   Step = "leaving the file"
	StepCommit  Step = "committing"
	StepDone    Step = "finishing"
)

// Moved says what was moved.
type Moved struct {
	Runs       int  `json:"runs"`
	Unfinished int  `json:"unfinished_runs"` // of the runs: an agentd goes on with them
	Foreground int  `json:"foreground_runs"` // of the runs: a command was working on them, and no agentd goes on
	Records    int  `json:"records"`
	Deleted    int  `json:"deleted_runs"`      // whose ids are kept
	Already    bool `json:"already,omitempty"` // an earlier move has done it; then nothing is counted
}

// moves has the table of the moves into the database. A move has its row before its file is left.
func moves() postgres.Layout {
	return postgres.Layout{Name: "agentd moves", Steps: []postgres.Step{{SQL: `
CREATE TABLE agentd_moves (
	id   text COLLATE "C" PRIMARY KEY,
	at   timestamptz NOT NULL DEFAULT clock_timestamp(),
	done boolean NOT NULL DEFAULT false -- the database has the runs
);
`}}}
}

// Of moves the runs of a file into the database, and makes the file unusable. See sqlite.Departure
// for the order. After an error, either the file can still be used, or Of must be repeated until it
// succeeds.
func (m Move) Of(ctx context.Context, file File) (done Moved, err error) {
	db, err := postgres.Open(ctx, m.Database)
	if err != nil {
		return done, err
	}
	defer db.Close()
	for _, tables := range []postgres.Layout{layout(), moves()} {
		if err := db.Migrate(ctx, tables); err != nil {
			return done, err
		}
	}
	conn, err := db.Session(ctx)
	if err != nil {
		return done, err
	}
	defer func() { // without a commit, nothing was written
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	mv := &moving{Move: m, conn: conn, db: db, file: file, left: m.Left != ""}
	if mv.Before == nil {
		mv.Before = func(Step) error { return nil }
	}
	if err := mv.run(ctx); err != nil {
		return done, fmt.Errorf("moving the runs to %s: %w", db.Name(), postgres.Error(err))
	}
	return mv.done, nil
}

type moving struct {
	Move
	conn *pgx.Conn
	db   *postgres.DB
	file File
	left bool // the file cannot be used any more
	// first is what the numbers of the runs grow by, and last the newest one.
	first, last int64
	done        Moved
}

func (m *moving) run(ctx context.Context) error {
	var finished bool
	err := m.conn.QueryRow(ctx, "SELECT done FROM agentd_moves WHERE id = $1", m.Left).Scan(&finished)
	switch {
	case errors.Is(err, pgx.ErrNoRows) && m.left:
		return fmt.Errorf("the file was left for the database %s, and this is another one: name that one", m.At)
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return err
	case finished:
		// A read could show what a failover loses.
		m.done.Already = true
		_, err := m.conn.Exec(ctx, "UPDATE agentd_moves SET done = done WHERE id = $1", m.Left)
		return errors.Join(err, postgres.Confirmed(m.conn))
	}
	err = m.move(ctx)
	if err != nil && m.left {
		err = fmt.Errorf("%w; the file cannot be used any more, and the database may not have its runs yet: repeat the command", err)
	}
	return err
}

// move does all steps.
func (m *moving) move(ctx context.Context) error {
	if err := m.step(ctx, StepReserve, m.reserve); err != nil {
		return err
	}
	tx, err := m.conn.Begin(ctx)
	if err != nil {
		return err
	}
	// One transaction has everything, so no agentd sees any of it before the commit.
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '10min'"); err != nil {
		return err
	}
	if err := m.step(ctx, StepCopy, m.copy); err != nil {
		return err
	}
	if m.Check {
		return tx.Rollback(ctx)
	}
	id := m.Left
	if !m.left {
		id = rand.Text()
		note := func(ctx context.Context) error { // committed at once, by another connection
			return m.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
				_, err := conn.Exec(ctx, "INSERT INTO agentd_moves (id) VALUES ($1)", id)
				return err
			})
		}
		if err := m.step(ctx, StepNote, note); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, "UPDATE agentd_moves SET done = true WHERE id = $1", id); err != nil {
		return err
	}
	leave := func(ctx context.Context) error { return m.file.Leave(ctx, id, m.db.Name()) }
	if err := m.step(ctx, StepLeave, leave); err != nil {
		return err
	}
	m.left = true
	if err := m.step(ctx, StepCommit, tx.Commit); err != nil {
		return err
	}
	return m.step(ctx, StepDone, func(context.Context) error { return postgres.Confirmed(m.conn) })
}

func (m *moving) step(ctx context.Context, step Step, do func(context.Context) error) error {
	if err := m.Before(step); err != nil {
		return err
	}
	if err := do(ctx); err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}

// reserve takes the numbers of the runs from those of the database, so that the runs keep their
// order and come after all others.
func (m *moving) reserve(ctx context.Context) error {
	newest := int64(0)
	for row, err := range m.file.Rows(ctx, "SELECT ifnull(max(number), 0) FROM runs") {
		if err != nil {
			return err
		}
		newest, _ = row[0].(int64)
	}
	return pgx.BeginFunc(ctx, m.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "LOCK TABLE agentd_runs IN SHARE ROW EXCLUSIVE MODE"); err != nil { // no run takes a number meanwhile
			return err
		}
		const take = "SELECT setval(s, nextval(s) + $1) - $1 FROM pg_get_serial_sequence('agentd_runs', 'number') s"
		err := tx.QueryRow(ctx, take, newest).Scan(&m.first)
		m.last = m.first + newest
		return err
	})
}
