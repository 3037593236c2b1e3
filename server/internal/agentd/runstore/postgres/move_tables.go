package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// table is a table of a file and its copy. The three lists of columns have the same order. The
// first column is the number of a run, unless the table is shared.
type table struct {
	rows    string // the query of the file
	into    string // the table of the database
	columns []string
	back    string // the query that reads the copy
	// merge takes the rows of a shared table, which has rows of others, from the copy, which is a
	// table of the transaction. Empty: the table is not shared.
	merge string
}

var (
	tableOfRuns = table{
		rows: "SELECT number, id, created, updated, last_seq, unfinished, ended, summary, owner, tenant, parent, decisions, decide_by, CAST('moved' AS BLOB) FROM runs ORDER BY number",
		into: "agentd_runs", columns: []string{"number", "id", "created", "updated", "last_seq", "unfinished", "ended", "summary", "owner", "tenant", "parent", "decisions", "decide_by", "last_append"},
		back: `SELECT number, id, created, updated, last_seq, unfinished::int::bigint, ended::int::bigint, summary, owner, tenant, parent, decisions, decide_by, last_append
			FROM agentd_runs WHERE number > $1 AND number <= $2 ORDER BY number`,
	}
	tableOfRecords = table{
		rows: "SELECT run, seq, time, type, version, data FROM records ORDER BY run, seq",
		into: "agentd_records", columns: []string{"run", "seq", "time", "type", "version", "data"},
		back: "SELECT run, seq, time, type, version::bigint, data FROM agentd_records WHERE run > $1 AND run <= $2 ORDER BY run, seq",
	}
	tableOfSnapshots = table{
		rows: "SELECT run, part, data FROM snapshots ORDER BY run, part",
		into: "agentd_snapshots", columns: []string{"run", "part", "data"},
		back: "SELECT run, part, data FROM agentd_snapshots WHERE run > $1 AND run <= $2 ORDER BY run, part",
	}
	tableOfContents = table{
		rows: "SELECT run, digest, data FROM contents ORDER BY run, digest, part", // see whole
		into: "agentd_contents", columns: []string{"run", "digest", "data"},
		back: "SELECT run, digest, data FROM agentd_contents WHERE run > $1 AND run <= $2 ORDER BY run, digest",
	}
	tableOfVerdicts = table{
		rows: "SELECT run, principal, data FROM verdicts ORDER BY number",
		into: "agentd_verdicts", columns: []string{"run", "principal", "data"},
		back: "SELECT run, principal, data FROM agentd_verdicts WHERE run > $1 AND run <= $2 ORDER BY number",
	}
	tableOfSpending = table{
		rows: "SELECT day, owner, tenant, tokens, cost, attached FROM spending ORDER BY day, owner",
		into: "agentd_spending", columns: []string{"day", "owner", "tenant", "tokens", "cost", "attached"},
		back: "SELECT day, owner, tenant, tokens, cost, attached FROM moving ORDER BY day, owner",
		merge: `INSERT INTO agentd_spending AS sum (day, owner, tenant, tokens, cost, attached) SELECT day, owner, tenant, tokens, cost, attached FROM moving
			ON CONFLICT (day, owner) DO UPDATE SET tokens = sum.tokens + excluded.tokens, cost = sum.cost + excluded.cost, attached = sum.attached + excluded.attached`,
	}
	tableOfOutbox = table{
		rows: "SELECT id, kind, run, seq, decision, target, created, due, until, attempts FROM outbox ORDER BY id",
		into: "agentd_outbox", columns: []string{"id", "kind", "run", "seq", "decision", "target", "created", "due", "until", "attempts"},
		back: "SELECT id, kind, run, seq, decision, target, created, due, until, attempts::bigint FROM moving ORDER BY id",
		merge: `INSERT INTO agentd_outbox (id, kind, run, seq, decision, target, created, due, until, attempts)
			SELECT id, kind, run, seq, decision, target, created, due, until, attempts FROM moving`,
	}
	tableOfDeleted = table{
		rows: "SELECT id, deleted, 0, 0, 0, 0, CAST('moved' AS BLOB), '', '', '' FROM deleted ORDER BY id",
		into: "agentd_runs", columns: []string{"id", "deleted", "created", "updated", "last_seq", "unfinished", "last_append", "owner", "tenant", "parent"},
		back: "SELECT id, deleted, created, updated, last_seq, unfinished::int::bigint, last_append, owner, tenant, parent FROM moving ORDER BY id",
		// A deleted run of the file is no run of the database.
		merge: `INSERT INTO agentd_runs (id, deleted, created, updated, last_seq, unfinished, last_append, owner, tenant, parent)
			SELECT id, deleted, created, updated, last_seq, unfinished, last_append, owner, tenant, parent FROM moving
			WHERE NOT EXISTS (SELECT FROM agentd_runs AS r WHERE r.id = moving.id AND r.deleted IS NOT NULL)`,
	}
)

// copy copies each table, reads the copy, and compares both.
func (m *moving) copy(ctx context.Context) error {
	for _, t := range []struct {
		*table
		rows *int
	}{
		{&tableOfRuns, &m.done.Runs},
		{&tableOfRecords, &m.done.Records},
		{&tableOfSnapshots, new(int)},
		{&tableOfContents, new(int)},
		{&tableOfVerdicts, new(int)},
		{&tableOfSpending, new(int)},
		{&tableOfOutbox, new(int)},
		{&tableOfDeleted, &m.done.Deleted},
	} {
		sent, err := m.send(ctx, t.table)
		if err == nil {
			err = m.compare(ctx, t.table, sent)
		}
		if err == nil && t.merge != "" {
			_, err = m.conn.Exec(ctx, t.merge+"; DROP TABLE moving")
		}
		if err != nil {
			return explain(err)
		}
		for _, d := range sent {
			*t.rows += d.rows
		}
	}
	return nil
}

// explain says what a key means that the database has already.
func explain(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "23505" && e.TableName == "agentd_runs" {
		return fmt.Errorf("the database has, or had, a run with the id of one in the file (%s), so the file is a copy of one that was moved, or both have used the id; nothing was moved", e.Detail)
	}
	return err
}

// send copies the rows of a table, and returns their digests.
func (m *moving) send(ctx context.Context, t *table) (digests, error) {
	into := t.into
	if t.merge != "" {
		into = "moving"
		columns := strings.Join(t.columns, ", ")
		if _, err := m.conn.Exec(ctx, "CREATE TEMP TABLE moving ON COMMIT DROP AS SELECT "+columns+" FROM "+t.into+" WITH NO DATA"); err != nil {
			return nil, err
		}
	}
	rows := m.file.Rows(ctx, t.rows)
	if t == &tableOfContents {
		rows = whole(rows)
	}
	next, stop := iter.Pull2(rows)
	defer stop()
	sent := digests{}
	_, err := m.conn.CopyFrom(ctx, pgx.Identifier{into}, t.columns, pgx.CopyFromFunc(func() ([]any, error) {
		row, err, more := next()
		if err != nil || !more {
			return nil, err
		}
		if err := m.convert(t, row); err != nil {
			return nil, err
		}
		sent.add(t, row)
		for i, name := range t.columns {
			if name == "unfinished" || name == "ended" {
				row[i] = row[i] != int64(0)
			}
		}
		return row, nil
	}))
	return sent, err
}

// convert makes a row of the file one of the database, and counts runs.
func (m *moving) convert(t *table, row []any) error {
	for i, name := range t.columns {
		switch v := row[i].(type) {
		case string:
			if !storable(v) {
				return fmt.Errorf("the %s %q in %s is not valid UTF-8 without NUL, which the database cannot store; delete the run before", name, v, t.into)
			}
		case []byte:
			if len(v) == 0 && name == "data" {
				row[i] = []byte{} // nil would be NULL
			}
		}
	}
	if t.merge == "" {
		number, _ := row[0].(int64)
		row[0] = m.first + number
	}
	if t == &tableOfRuns {
		switch unfinished, ended := row[slices.Index(t.columns, "unfinished")], row[slices.Index(t.columns, "ended")]; {
		case unfinished == int64(1):
			m.done.Unfinished++
		case ended == int64(0):
			m.done.Foreground++
		}
	}
	return nil
}

// whole puts the parts of a content together, which follow each other.
func whole(rows iter.Seq2[[]any, error]) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		var last []any
		for row, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if last != nil && last[0] == row[0] && last[1] == row[1] {
				before, _ := last[2].([]byte)
				part, _ := row[2].([]byte)
				last[2] = append(before, part...)
				continue
			}
			if last != nil && !yield(last, nil) {
				return
			}
			last = row
		}
		if last != nil {
			yield(last, nil)
		}
	}
}

// compare reads the copy of a table, and fails if it is not what was sent.
func (m *moving) compare(ctx context.Context, t *table, sent digests) error {
	var arguments []any
	if t.merge == "" {
		arguments = []any{m.first, m.last}
	}
	rows, err := m.conn.Query(ctx, t.back, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	got := digests{}
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return err
		}
		got.add(t, values)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, both := range []digests{sent, got} {
		for run := range both {
			if sent[run] != got[run] {
				return fmt.Errorf("the copy of run %d of the file in %s has %d rows, and %d were sent, or their content differs; nothing was moved", run-m.first, t.into, got[run].rows, sent[run].rows)
			}
		}
	}
	return nil
}

// digest is the digest of the rows of one run in one table.
type digest struct {
	rows int
	sum  [sha256.Size]byte
}

// digests are those of a table, by the number of the run, or by 0 in a shared table.
type digests map[int64]digest

// add adds a row. Its values are nil, int64, float64, string or []byte.
func (all digests) add(t *table, row []any) {
	run := int64(0)
	if t.merge == "" {
		run, _ = row[0].(int64)
	}
	d := all[run]
	b := slices.Clone(d.sum[:])
	for _, value := range row {
		switch v := value.(type) {
		case int64:
			b = binary.AppendVarint(append(b, 'i'), v)
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(v))
		case string:
			b = append(binary.AppendUvarint(append(b, 's'), uint64(len(v))), v...)
		case []byte:
			b = append(binary.AppendUvarint(append(b, 'b'), uint64(len(v))), v...)
		default:
			b = fmt.Appendf(b, "%T", v)
		}
	}
	all[run] = digest{rows: d.rows + 1, sum: sha256.Sum256(b)}
}
