package callstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/tool"
)

const (
	// maxFinders bounds the connections that look up single calls; further lookups wait.
	maxFinders = 3
	// MaxPage is the most entries that List returns.
	MaxPage = 1000
	// stride is how many calls List reads with one statement. A long statement would keep the
	// write-ahead log from being truncated.
	stride = 8192
)

// reader reads from the file while the writer writes, and never waits for the writer.
type reader struct {
	finders, lister *sql.DB // separate, so that lists do not delay calls
	find            *sql.Stmt

	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup // one for each read; no read begins once closed is set
}

func newReader(ctx context.Context, path string) (_ *reader, err error) {
	r := &reader{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	if r.finders, err = sqlitefile.Connect(path, maxFinders, "immediate", "query_only(1)"); err != nil {
		return nil, err
	}
	if r.lister, err = sqlitefile.Connect(path, 1, "immediate", "query_only(1)"); err != nil {
		return nil, err
	}
	r.find, err = r.finders.PrepareContext(ctx, "SELECT "+entryColumns+`, o.place IS NOT NULL, o.data, c.arguments, c.effect_key
		FROM calls c LEFT JOIN outcomes o ON o.place = c.outcome AND o.call = c.number AND o.ended > ? WHERE c.number = ?`)
	return r, err
}

// enter begins a read, unless the reader is closed. The caller must call leave if enter returns
// true.
func (r *reader) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.inside.Add(1)
	}
	return !r.closed
}

func (r *reader) leave() { r.inside.Done() }

// close waits for reads that run.
func (r *reader) close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.inside.Wait()
	var errs []error
	if r.find != nil {
		errs = append(errs, r.find.Close())
	}
	for _, db := range []*sql.DB{r.finders, r.lister} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

const entryColumns = "c.number, c.principal, c.session, c.id, c.sum, c.tool, c.plugin, c.instance, c.begun, ifnull(c.ended, 0), c.state, c.error, c.verdict, c.reason"

// scanEntry reads entryColumns and, if the statement selects them, the data of the outcome and the
// arguments.
func scanEntry(row interface{ Scan(...any) error }, withData bool) (Entry, error) {
	var e Entry
	var sum, short, data []byte
	var begun, ended int64
	var stands Standing
	var kept bool
	var verdict int
	var reason string
	into := []any{&e.Number, &e.Principal, &e.Session, &e.ID, &sum, &e.Tool, &e.Plugin, &e.Instance, &begun, &ended, &stands, &short, &verdict, &reason}
	if withData {
		into = append(into, &kept, &data, &e.Arguments, &e.EffectKey)
	}
	if err := row.Scan(into...); err != nil {
		return Entry{}, err
	}
	if copy(e.Sum[:], sum) != len(e.Sum) {
		return Entry{}, fmt.Errorf("reading the digest: %w", ErrDamaged)
	}
	e.Begun = time.Unix(0, begun).UTC()
	if stands != StandsBegun {
		e.Ended = time.Unix(0, ended).UTC()
	}
	e.Settled = SettlementOf(verdict, reason)
	return e, e.Decode(stands, short, kept, data)
}

// Find returns a call, with its outcome if that is stored and has not expired. A key that is not in
// the store costs no read. Find sees every Begin, End and Forget that has returned.
func (s *Store) Find(ctx context.Context, key Key) (entry Entry, found bool, err error) {
	if !s.reader.enter() {
		return Entry{}, false, fmt.Errorf("looking for call %s: %w", key.ID, ErrClosed)
	}
	defer s.reader.leave()
	hash := key.Hash()
	number, ok := s.index.find(hash)
	if !ok {
		return Entry{}, false, nil
	}
	// The writer may not have removed an outcome yet that has expired.
	expired := s.cfg.Now().Add(-s.cfg.KeepResults).UnixNano()
	for number != 0 {
		entry, err = scanEntry(s.reader.find.QueryRowContext(ctx, expired, number), true)
		if !errors.Is(err, sql.ErrNoRows) {
			break
		}
		number = s.index.after(hash, number) // the call may have begun again
	}
	if errors.Is(err, sql.ErrNoRows) || err == nil && entry.Key != key {
		return Entry{}, false, nil // just removed, or two keys with the same hash
	}
	if err != nil {
		return Entry{}, false, fmt.Errorf("looking for call %s: %w", key.ID, explain(s.cfg.Path, err))
	}
	return entry, true, nil
}

// Known reports whether the store may have a call, without reading the file. False is certain; true
// is wrong only for two keys with the same hash.
func (s *Store) Known(key Key) bool {
	_, ok := s.index.find(key.Hash())
	return ok
}

// Query selects calls. Every field that is set must match. The zero value selects the newest
// MaxPage calls.
type Query struct {
	Plugin, Tool, Session, ID string
	State                     tool.CallState
	Tenants                   tool.Tenants // of the principals
	Unsettled                 bool         // only calls that are Entry.Unsettled
	Before                    int64        // only calls with a lower Number; 0: from the newest call
	Limit                     int          // how many; 0 or more than MaxPage means MaxPage
}

// List returns calls without their outcomes, in reverse order of beginning. If it returns fewer
// than the limit, there are no more. A query that matches hardly any call reads the whole file, in
// pieces; ctx ends it.
func (s *Store) List(ctx context.Context, q Query) ([]Entry, error) {
	if !s.reader.enter() {
		return nil, fmt.Errorf("listing calls: %w", ErrClosed)
	}
	defer s.reader.leave()
	if q.Limit <= 0 || q.Limit > MaxPage {
		q.Limit = MaxPage
	}
	before := q.Before
	if before <= 0 {
		before = 1<<63 - 1
	}
	var entries []Entry
	if q.Unsettled { // they have an index
		entries, err := s.reader.listBetween(ctx, entries, q, 0, before)
		if err != nil {
			return nil, fmt.Errorf("listing calls: %w", explain(s.cfg.Path, err))
		}
		return entries, nil
	}
	for len(entries) < q.Limit {
		var from sql.NullInt64
		err := s.reader.lister.QueryRowContext(ctx,
			"SELECT min(number) FROM (SELECT number FROM calls WHERE number < ? ORDER BY number DESC LIMIT ?)", before, stride).Scan(&from)
		if err == nil && !from.Valid {
			break
		}
		if err == nil {
			entries, err = s.reader.listBetween(ctx, entries, q, from.Int64, before)
		}
		if err != nil {
			return nil, fmt.Errorf("listing calls: %w", explain(s.cfg.Path, err))
		}
		before = from.Int64
	}
	return entries, nil
}

// listBetween adds the matching calls from one number to before another, up to the limit.
func (r *reader) listBetween(ctx context.Context, entries []Entry, q Query, from, before int64) ([]Entry, error) {
	table := "calls c"
	if q.Unsettled {
		table += " INDEXED BY calls_arguments"
	}
	statement := "SELECT " + entryColumns + " FROM " + table + " WHERE c.number >= ? AND c.number < ?"
	if q.Unsettled {
		statement += fmt.Sprintf(" AND c.arguments IS NOT NULL AND c.state IN (%d, %d)", StandsFailed, StandsUnknown)
	}
	args := []any{from, before}
	for column, want := range map[string]string{"plugin": q.Plugin, "tool": q.Tool, "session": q.Session, "id": q.ID} {
		if want != "" {
			statement += " AND c." + column + " = ?"
			args = append(args, want)
		}
	}
	if q.Tenants != nil {
		condition, names := ofTenants(q.Tenants)
		statement, args = statement+" AND "+condition, append(args, names...)
	}
	if q.State != "" {
		statement += " AND c.state IN (-1"
		for stands := StandsBegun; stands <= StandsFree; stands++ {
			if stands.How() == q.State {
				statement += fmt.Sprintf(", %d", stands)
			}
		}
		statement += ")"
	}
	rows, err := r.lister.QueryContext(ctx, statement+" ORDER BY c.number DESC LIMIT ?", append(args, q.Limit-len(entries))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		entry, err := scanEntry(rows, false)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, rows.Err()
}

// ofTenants returns the condition that the principal of a call belongs to one of the tenants, with
// its arguments. identity.Principal.Key describes the text of a principal.
func ofTenants(tenants tool.Tenants) (condition string, args []any) {
	condition = "(0"
	for _, name := range tenants {
		condition += " OR substr(c.principal, 1, ?) = ?"
		args = append(args, len(name)+1, name+"/")
		if name == identity.DefaultTenant {
			condition += " OR instr(c.principal, '/') = 0"
		}
	}
	return condition + ")", args
}
