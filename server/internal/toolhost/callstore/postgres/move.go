package postgres

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// Move says how the calls of a file come into a database. Database.URL and Folder are required.
type Move struct {
	Database postgres.Config
	// Name, Folder and Boot are those of the Node that the toolhost with the file will be, so that its
	// tools can settle the calls with an unknown outcome.
	Name, Folder, Boot string
	KeepIDs            time.Duration // how long the file has kept ids, at least
	// Used says that a toolhost with Folder has used the database. If the move must be done again, the
	// database has lost calls that were begun under the id of the file.
	Used bool
	// Check copies and compares the calls, and then takes everything back.
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
	StepCopy    Step = "copying the calls"
	StepCompare Step = "comparing the copy"
	StepName    Step = "naming the ledger"
	StepLeave   Step = "leaving the file"
	StepCommit  Step = "committing"
	StepDone    Step = "finishing"
)

// Moved says what was moved.
type Moved struct {
	Calls   int `json:"calls"`
	Unknown int `json:"unknown"` // of the calls: begun and not ended
	Results int `json:"results"`
	// Ledger is the id of the ledger in the database. It is the one of the file, unless the database
	// had calls before.
	Ledger  string `json:"ledger"`
	Lost    bool   `json:"lost,omitempty"`    // the database has lost an earlier move, or later calls, so the id of the file is not valid
	Already bool   `json:"already,omitempty"` // an earlier move has done it; then nothing is counted
}

// Of moves the calls of a file into the database, and makes the file unusable. See
// callstore.Departure for the order. After an error, either the file can still be used, or Of must
// be repeated until it succeeds.
func (m Move) Of(ctx context.Context, file *callstore.Departure) (done Moved, err error) {
	db, err := postgres.Open(ctx, m.Database)
	if err != nil {
		return done, err
	}
	defer db.Close()
	if err := db.Migrate(ctx, layout()); err != nil {
		return done, err
	}
	conn, err := db.Session(ctx)
	if err != nil {
		return done, err
	}
	defer func() { // without a commit, nothing was written
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessionTime)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	mv := &moving{Move: m, conn: conn, file: file, node: rand.Int64(), name: db.Name()}
	if mv.Before == nil {
		mv.Before = func(Step) error { return nil }
	}
	if err := mv.run(ctx); err != nil {
		return done, fmt.Errorf("moving the ledger %s to %s: %w", file.ID, db.Name(), postgres.Error(err))
	}
	return mv.done, nil
}

type moving struct {
	Move
	conn  *pgx.Conn
	file  *callstore.Departure
	name  string // of the database
	node  int64  // that all calls get: one that is gone
	first int64  // what their numbers grow by
	done  Moved
}

func (m *moving) run(ctx context.Context) error {
	var there string
	var ids []string
	var lost []Former
	if err := m.conn.QueryRow(ctx, "SELECT id, former || id, "+lostIDs+" FROM toolhost_ledger").Scan(&there, &ids, &lost); err != nil {
		return err
	}
	// If the database has lost an earlier move, it may have lost calls that followed it, too.
	m.done.Lost = m.file.Heir != "" && m.Used || slices.ContainsFunc(lost, func(f Former) bool { return f.ID == m.file.Heir })
	valid := slices.Contains(ids, m.file.ID)
	for _, f := range lost {
		ids = append(ids, f.ID)
	}
	has := slices.Contains(ids, m.file.ID)
	switch {
	case m.file.Heir != "" && !slices.Contains(ids, m.file.Heir):
		return fmt.Errorf("the file has been left for the ledger %s in %s, and this is the ledger %s; name that database in records", m.file.Heir, m.file.At, there)
	case has && m.file.Heir == "":
		return errors.New("the database has the calls of this ledger already, and the file is not the one that was moved: it is a copy, or was restored by other programs; move it away")
	case has:
		// A read may show rows that a failover would lose. The commit of the update waits for the
		// standby.
		m.done = Moved{Ledger: there, Already: true, Lost: !valid}
		_, err := m.conn.Exec(ctx, "UPDATE toolhost_ledger SET id = id")
		return errors.Join(err, postgres.Confirmed(m.conn))
	}
	err := m.move(ctx, there)
	if err != nil && m.file.Heir != "" {
		err = fmt.Errorf("%w; the file cannot be used any more, and the database may not have its calls yet: repeat the command", err)
	}
	return err
}

// move does all steps. there is the id of the ledger before.
func (m *moving) move(ctx context.Context, there string) error {
	if err := m.step(ctx, StepReserve, m.reserve); err != nil {
		return err
	}
	tx, err := m.conn.Begin(ctx)
	if err != nil {
		return err
	}
	// One transaction has everything, so no toolhost sees any of it before the commit.
	if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '10min'"); err != nil {
		return err
	}
	sent, got := newDigest(), newDigest()
	for _, s := range []struct {
		step Step
		do   func(context.Context) error
	}{
		{StepCopy, func(ctx context.Context) error { return m.copy(ctx, sent) }},
		{StepCompare, func(ctx context.Context) error { return m.compare(ctx, sent, got) }},
		{StepName, m.activate},
	} {
		if err := m.step(ctx, s.step, s.do); err != nil {
			return err
		}
	}
	if m.Check {
		return tx.Rollback(ctx)
	}
	if err := m.step(ctx, StepLeave, func(ctx context.Context) error { return m.file.Leave(ctx, cmp.Or(m.file.Heir, there), m.name) }); err != nil {
		return err
	}
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

// reserve takes the numbers of the calls from those of the database. The numbers only grow, so that
// the newest one that the state folder has noted stays a lower bound.
func (m *moving) reserve(ctx context.Context) error {
	return pgx.BeginFunc(ctx, m.conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "LOCK TABLE toolhost_calls IN SHARE ROW EXCLUSIVE MODE"); err != nil { // no call takes a number meanwhile
			return err
		}
		const take = "SELECT setval(s, nextval(s) + $1) - $1 FROM pg_get_serial_sequence('toolhost_calls', 'number') s"
		return tx.QueryRow(ctx, take, m.file.Newest).Scan(&m.first)
	})
}

// columnsOfCalls and columnsOfOutcomes are the columns of the copy.
var (
	columnsOfCalls = []string{"number", "hash", "begun", "state", "ended", "principal", "session", "id", "sum", "tool", "plugin", "instance", "error", "arguments", "verdict", "reason", "effect_key",
		"node", "token", "tenant"}
	columnsOfOutcomes = []string{"number", "tenant", "ended", "data"}
)

func (m *moving) copy(ctx context.Context, sent *digest) error {
	const enter = `WITH now AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000 AS now),
		node AS (INSERT INTO toolhost_nodes (node, name, folder, boot, started, gone, why) SELECT @node, @name, @folder, @boot, now, now, 'its ledger was moved from a file' FROM now RETURNING node)
		INSERT INTO toolhost_beats (node, newest) SELECT node, @newest FROM node`
	_, err := m.conn.Exec(ctx, enter, pgx.NamedArgs{"node": m.node, "name": m.Name, "folder": m.Folder, "boot": m.Boot, "newest": m.first + m.file.Newest})
	if err != nil {
		return err
	}
	for _, table := range []struct {
		name    string
		columns []string
		rows    func(context.Context) (*callstore.Rows, error)
		convert func([]any) ([]any, error)
	}{
		{"toolhost_calls", columnsOfCalls, m.file.Calls, m.call},
		{"toolhost_outcomes", columnsOfOutcomes, m.file.Outcomes, m.outcome},
	} {
		rows, err := table.rows(ctx)
		if err != nil {
			return err
		}
		_, err = m.conn.CopyFrom(ctx, pgx.Identifier{table.name}, table.columns, &source{rows, table.convert, sent})
		if err = errors.Join(err, rows.Close()); err != nil {
			return explain(err)
		}
	}
	return nil
}

// explain says what a key means that the database has already.
func explain(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "23505" && e.TableName == "toolhost_calls" {
		return fmt.Errorf("the database has a call with the principal, the session and the id of one in the file, so one of them could be executed again: %w; keep the file, or wait until one ledger has forgotten the call", err)
	}
	return err
}

// call turns a row of a file into one of the database. A call that has begun and not ended belongs
// to a node that is gone, so it is unknown.
func (m *moving) call(values []any) ([]any, error) {
	var key [3]string
	for i, v := range values[5:8] {
		key[i], _ = v.(string)
	}
	hash := callstore.Key{Principal: key[0], Session: key[1], ID: key[2]}.Hash()
	if stored, _ := values[1].([]byte); string(stored) != string(hash[:]) {
		return nil, fmt.Errorf("the hash of call %q: %w", key[2], callstore.ErrDamaged)
	}
	for i, v := range values {
		text, ok := v.(string)
		switch {
		case ok && (columnsOfCalls[i] == "reason" || columnsOfCalls[i] == "instance"):
			values[i] = callstore.ToValidText(text)
		case ok && !callstore.ValidText(text):
			return nil, fmt.Errorf("the %s of call %q is not valid UTF-8 without NUL, which the database cannot store; wait until the ledger has forgotten the call", columnsOfCalls[i], key[2])
		}
	}
	number, _ := values[0].(int64)
	m.done.Calls++
	if state, _ := values[3].(int64); state == int64(callstore.StandsBegun) || state == int64(callstore.StandsUnknown) {
		values[3] = int64(callstore.StandsBegun)
		m.done.Unknown++
	}
	values[0] = m.first + number
	return append(values, m.node, []byte("moved"), identity.TenantOf(key[0])), nil
}

func (m *moving) outcome(values []any) ([]any, error) {
	number, _ := values[0].(int64)
	principal, _ := values[1].(string)
	data, _ := values[3].([]byte)
	m.done.Results++
	return []any{m.first + number, identity.TenantOf(principal), values[2], append([]byte{}, data...)}, nil // an empty result is a result
}

// compare reads the copy, and fails if it is not what was sent.
func (m *moving) compare(ctx context.Context, sent, got *digest) error {
	for _, query := range []string{
		`SELECT number, hash, begun, state::bigint, ended, principal, session, id, sum, tool, plugin, instance, error, arguments, verdict::bigint, reason, effect_key, node, token, tenant
			FROM toolhost_calls WHERE node = $1 ORDER BY number`,
		"SELECT o.number, o.tenant, o.ended, o.data FROM toolhost_outcomes o JOIN toolhost_calls c USING (number) WHERE c.node = $1 ORDER BY o.place",
	} {
		rows, err := m.conn.Query(ctx, query, m.node)
		if err != nil {
			return err
		}
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				rows.Close()
				return err
			}
			got.add(values)
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	if got.rows != sent.rows || string(got.sum.Sum(nil)) != string(sent.sum.Sum(nil)) {
		return fmt.Errorf("the database has %d rows, and %d were sent, or their content differs; nothing was changed", got.rows, sent.rows)
	}
	return nil
}

// activate gives the ledger the id of the file, unless it has calls of its own. Both ids remain
// known: callers and state folders may have either. But if calls under the id of the file may be
// lost, none is begun under it any more. What the file may have forgotten, the ledger has
// forgotten, too.
func (m *moving) activate(ctx context.Context) error {
	if m.done.Lost {
		if _, err := m.conn.Exec(ctx, "UPDATE toolhost_ledger SET lost = lost || jsonb_build_array(@lost::jsonb)", pgx.NamedArgs{"lost": Former{ID: m.file.ID}}); err != nil {
			return err
		}
	}
	return m.conn.QueryRow(ctx, `UPDATE toolhost_ledger SET former = CASE WHEN @lost THEN former ELSE former || ARRAY[id, @file::text] END,
		id = CASE WHEN @lost OR EXISTS (SELECT FROM toolhost_calls WHERE node <> @node) THEN id ELSE @file END,
		keep_ids = greatest(keep_ids, @keep),
		forgotten = greatest(forgotten, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000 - @keep)
		RETURNING id`, pgx.NamedArgs{"file": m.file.ID, "node": m.node, "keep": int64(m.KeepIDs), "lost": m.done.Lost}).Scan(&m.done.Ledger)
}

// source passes the rows of a file to COPY, one after the other.
type source struct {
	*callstore.Rows
	convert func([]any) ([]any, error)
	sent    *digest
}

// Values implements pgx.CopyFromSource.
func (s *source) Values() ([]any, error) {
	values, err := s.convert(s.Rows.Values())
	if err == nil {
		s.sent.add(values)
	}
	return values, err
}

// digest is a digest of rows.
type digest struct {
	sum  hash.Hash
	rows int
	room []byte
}

func newDigest() *digest { return &digest{sum: sha256.New()} }

// add adds a row. Its values are nil, int64, string or []byte.
func (d *digest) add(values []any) {
	b := d.room[:0]
	for _, value := range values {
		switch v := value.(type) {
		case int64:
			b = binary.AppendVarint(append(b, 'i'), v)
		case string:
			b = append(binary.AppendUvarint(append(b, 's'), uint64(len(v))), v...)
		case []byte:
			b = append(binary.AppendUvarint(append(b, 'b'), uint64(len(v))), v...)
		default:
			b = append(b, fmt.Sprintf("%T", v)...)
		}
	}
	d.sum.Write(b) // never fails
	d.rows, d.room = d.rows+1, b
}
