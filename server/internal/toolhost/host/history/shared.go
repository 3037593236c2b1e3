package history

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/tool"
)

// Sharing says where toolhosts share their failed calls and their statistics.
type Sharing struct {
	Database postgres.Config
	Folder   string // identifies the state folder of this toolhost
	Name     string // of the machine, for people
}

const (
	// shareEvery is how long others lack what this toolhost has written.
	shareEvery = 10 * time.Second
	poolSize   = 3
	// shareBatch bounds the rows of one statement.
	shareBatch = 500
	// lastShare bounds what Close takes without the database.
	lastShare = 5 * time.Second
)

// sharedTables returns the tables. Their names begin with toolhost_, so that they can be in one
// database with others. Times and data are those of the file.
func sharedTables() postgres.Layout {
	return postgres.Layout{Name: "toolhost history", Steps: []postgres.Step{{SQL: `
CREATE TABLE toolhost_history_calls (
	folder text COLLATE "C" NOT NULL, -- of the toolhost that had the call
	number bigint NOT NULL,           -- in the file of that toolhost
	node   text NOT NULL,             -- the name of its machine
	time   bigint NOT NULL,
	data   bytea NOT NULL,
	PRIMARY KEY (folder, number)
);
CREATE INDEX toolhost_history_calls_time ON toolhost_history_calls (time, folder, number);
CREATE TABLE toolhost_history_hours (
	folder text COLLATE "C" NOT NULL,
	time   bigint NOT NULL,
	tenant text COLLATE "C" NOT NULL,
	tool   text COLLATE "C" NOT NULL,
	plugin text COLLATE "C" NOT NULL,
	data   bytea NOT NULL,
	PRIMARY KEY (folder, time, tenant, tool, plugin)
);
CREATE INDEX toolhost_history_hours_time ON toolhost_history_hours (time);
`}, {SQL: `
ALTER TABLE toolhost_history_calls ADD COLUMN tenant text COLLATE "C"; -- NULL: an older toolhost has copied the call
`}, {SQL: `
CREATE INDEX toolhost_history_calls_tenant ON toolhost_history_calls (tenant, time, folder, number);
`}}}
}

// shared copies the calls and hours of the file to a database, and reads those of other toolhosts.
//
// The problem: no call may wait for a database, and nothing may be missing there after it was gone
// for a while. The idea: the file is the queue. The copy says how far it is, and each hour has its
// whole sum, so that copying again changes nothing. So what is in the file is in the database a
// while later, unless the file has removed it before.
type shared struct {
	db  *postgres.DB
	cfg Sharing
	log *Log

	// The goroutine of run alone uses these, and Close after it.
	known  bool      // what follows is compared with the database
	calls  int64     // the newest call that was copied
	hours  int64     // the hours from this one on are not copied; noHour: all are
	pruned time.Time // when old rows were last removed

	cancel  context.CancelFunc
	stopped chan struct{}
}

const noHour = math.MaxInt64

// share opens the database. It starts a goroutine, which close stops.
func (l *Log) share(ctx context.Context, cfg Sharing) error {
	cfg.Database.PoolSize = poolSize // one copies, the others read
	db, err := postgres.Open(ctx, cfg.Database)
	if err == nil {
		if err = db.Migrate(ctx, sharedTables()); err != nil {
			db.Close()
		}
	}
	if err != nil {
		return fmt.Errorf("opening the history in PostgreSQL: %w", err)
	}
	s := &shared{db: db, cfg: cfg, log: l, stopped: make(chan struct{})}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.shared = s
	go s.run(ctx) // ends with close, which waits for it
	return nil
}

func (s *shared) run(ctx context.Context) {
	defer close(s.stopped)
	ticker := time.NewTicker(shareEvery)
	defer ticker.Stop()
	failing := false
	for {
		err := s.copy(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && !failing:
			s.log.cfg.Logger.Warn("the history cannot be copied to the database; other toolhosts do not see what happens here while that lasts", "error", err)
		case err == nil && failing:
			s.log.cfg.Logger.Info("the history is copied to the database again")
		}
		failing = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// stop ends the goroutine.
func (s *shared) stop() {
	s.cancel()
	<-s.stopped
}

// close copies the rest, and ends the connections. The file has everything, and is still open.
func (s *shared) close() {
	s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), lastShare)
	defer cancel()
	if err := s.copy(ctx); err != nil {
		s.log.cfg.Logger.Warn("the end of the history could not be copied to the database; the next start does it", "error", err)
	}
	s.db.Close()
}

// copy copies what the database does not have.
func (s *shared) copy(ctx context.Context) error {
	newest := int64(0)
	if err := s.log.reader.QueryRowContext(ctx, "SELECT coalesce(max(number), 0) FROM calls").Scan(&newest); err != nil {
		return err
	}
	if !s.known || newest < s.calls {
		if err := s.compare(ctx, newest); err != nil {
			return err
		}
	}
	if changed := s.log.changed.Swap(noHour); changed < s.hours {
		s.hours = changed
	}
	if err := s.copyCalls(ctx); err != nil {
		return err
	}
	if err := s.copyHours(ctx); err != nil {
		return err
	}
	if time.Since(s.pruned) < time.Hour {
		return nil
	}
	if err := s.prune(ctx); err != nil {
		return err
	}
	s.pruned = time.Now()
	return nil
}

// compare finds out what the database has. newest is the newest call of the file. If the database
// has newer ones, the file began anew, and so does the copy of its calls. The hour before the
// newest one may have changed after it was copied.
func (s *shared) compare(ctx context.Context, newest int64) error {
	const has = "SELECT (SELECT coalesce(max(number), 0) FROM toolhost_history_calls WHERE folder = $1), (SELECT coalesce(max(time), 0) FROM toolhost_history_hours WHERE folder = $1)"
	return s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if err := conn.QueryRow(ctx, has, s.cfg.Folder).Scan(&s.calls, &s.hours); err != nil {
			return err
		}
		s.hours -= int64(time.Hour)
		if newest < s.calls {
			if _, err := conn.Exec(ctx, "DELETE FROM toolhost_history_calls WHERE folder = $1", s.cfg.Folder); err != nil {
				return err
			}
			s.calls = 0
		}
		s.known = true
		return nil
	})
}

// copyCalls copies the calls after the last one that was copied.
func (s *shared) copyCalls(ctx context.Context) error {
	for {
		var numbers, times []int64
		var data [][]byte
		var tenants []string
		err := s.read(ctx, func(scan func(...any) error) error {
			var number, at int64
			var row []byte
			err := scan(&number, &at, &row)
			numbers, times, data, tenants = append(numbers, number), append(times, at), append(data, row), append(tenants, tenantOf(row))
			return err
		}, "SELECT number, time, data FROM calls WHERE number > ? ORDER BY number LIMIT ?", s.calls, shareBatch)
		if err != nil || len(numbers) == 0 {
			return err
		}
		if err := s.do(ctx, `INSERT INTO toolhost_history_calls (folder, node, number, time, data, tenant) SELECT $1, $2, * FROM unnest($3::bigint[], $4::bigint[], $5::bytea[], $6::text[])
			ON CONFLICT DO NOTHING`, s.cfg.Folder, s.cfg.Name, numbers, times, data, tenants); err != nil {
			return err
		}
		s.calls = numbers[len(numbers)-1]
	}
}

// tenantOf returns the tenant of a call as the file has it.
func tenantOf(data []byte) string {
	var c struct{ Principal string }
	_ = json.Unmarshal(data, &c) // nobody can read such a call
	return identity.TenantOf(c.Principal)
}

// copyHours copies the hours that have changed, and those after them. After an error, the next copy
// begins there again.
func (s *shared) copyHours(ctx context.Context) error {
	if s.hours == noHour {
		return nil
	}
	at, names := s.hours, [3]string{} // the last row that was copied
	for {
		var times []int64
		var columns [3][]string
		var data [][]byte
		err := s.read(ctx, func(scan func(...any) error) error {
			var row []byte
			err := scan(&at, &names[0], &names[1], &names[2], &row)
			times, data = append(times, at), append(data, row)
			for i := range columns {
				columns[i] = append(columns[i], names[i])
			}
			return err
		}, "SELECT time, tenant, tool, plugin, data FROM hours WHERE (time, tenant, tool, plugin) > (?, ?, ?, ?) ORDER BY time, tenant, tool, plugin LIMIT ?",
			at, names[0], names[1], names[2], shareBatch)
		if err != nil {
			return err
		}
		if len(times) == 0 {
			s.hours = noHour
			return nil
		}
		if err := s.do(ctx, `INSERT INTO toolhost_history_hours (folder, time, tenant, tool, plugin, data)
			SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::bytea[])
			ON CONFLICT (folder, time, tenant, tool, plugin) DO UPDATE SET data = excluded.data`, s.cfg.Folder, times, columns[0], columns[1], columns[2], data); err != nil {
			return err
		}
	}
}

// now is the time of the database, so that a toolhost with a wrong clock removes nothing of others.
const now = "(extract(epoch FROM clock_timestamp())::bigint * 1000000000)"

// prune removes what the file does not have any more, and what is too old of toolhosts that may be
// gone.
func (s *shared) prune(ctx context.Context) error {
	var call, hour int64
	if err := s.log.reader.QueryRowContext(ctx, "SELECT (SELECT coalesce(min(number), 0) FROM calls), (SELECT coalesce(min(time), 0) FROM hours)").Scan(&call, &hour); err != nil {
		return err
	}
	keep := s.log.cfg.Keep.Nanoseconds()
	if err := s.do(ctx, "DELETE FROM toolhost_history_calls WHERE time < "+now+" - $1 OR folder = $2 AND number < $3", keep, s.cfg.Folder, call); err != nil {
		return err
	}
	return s.do(ctx, "DELETE FROM toolhost_history_hours WHERE time < "+now+" - $1 OR folder = $2 AND time < $3", keep, s.cfg.Folder, hour)
}

// read reads rows of the file.
func (s *shared) read(ctx context.Context, row func(scan func(...any) error) error, query string, arguments ...any) error {
	rows, err := s.log.reader.QueryContext(ctx, query, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *shared) do(ctx context.Context, sql string, arguments ...any) error {
	return s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql, arguments...)
		return err
	})
}

// callsOfAll reads the calls of other toolhosts before a call, the newest first. callsOfTenants
// reads those of tenants, and those of which it is not known whose they are. It asks for each
// tenant by itself, so that it reads as many rows as it returns for each, however many other
// tenants have.
const (
	callsColumns   = "SELECT time, folder, number, node, data FROM toolhost_history_calls c WHERE "
	callsBefore    = "folder <> $1 AND time >= $2 AND (time, folder, number) < ($3, $4, $5)"
	newestCalls    = " ORDER BY time DESC, folder DESC, number DESC LIMIT $6"
	callsOfAll     = callsColumns + callsBefore + newestCalls
	callsOfTenants = "SELECT * FROM ((" + callsColumns + "tenant IS NULL AND " + callsBefore + newestCalls + `)
		UNION ALL SELECT of.* FROM (SELECT DISTINCT * FROM unnest($7::text[])) t (name) CROSS JOIN LATERAL (` + callsColumns + "c.tenant = t.name AND " + callsBefore + newestCalls + ") of) found" + newestCalls
)

// CallsElsewhere is like Calls, for the calls of other toolhosts, as far as they have copied them.
// Of calls that a toolhost of this version has copied, it reads only those of tenants.
func (l *Log) CallsElsewhere(ctx context.Context, since, before time.Time, tenants tool.Tenants, visit func(tool.CallRecord) bool) error {
	if l == nil || l.shared == nil {
		return nil
	}
	from, at := bounds(since, before)
	folder, number := "", int64(0) // with at, of the last row that was read
	query, of := callsOfAll, []any(nil)
	if tenants != nil {
		query, of = callsOfTenants, []any{[]string(tenants)}
	}
	for {
		var page []tool.CallRecord
		rows := 0
		err := l.shared.query(ctx, func(scan func(...any) error) error {
			var node string
			var data []byte
			var c storedCall
			if err := scan(&at, &folder, &number, &node, &data); err != nil {
				return err
			}
			if rows++; json.Unmarshal(data, &c) == nil {
				record := c.record()
				record.Node = node
				page = append(page, record)
			}
			return nil
		}, query, append([]any{from, at, folder, number, shareBatch}, of...)...)
		if err != nil {
			return fmt.Errorf("reading the calls of other toolhosts: %w", err)
		}
		for _, c := range page {
			if !visit(c) {
				return nil
			}
		}
		if rows < shareBatch {
			return nil
		}
	}
}

// HoursElsewhere calls visit with what Hours returns of other toolhosts, as far as they have copied
// it, by hour. It reads only the hours of tenants and, unless plugin is empty, of a plugin, and
// some at a time, so that its memory does not grow with the number of toolhosts and tenants.
func (l *Log) HoursElsewhere(ctx context.Context, since time.Time, plugin string, tenants tool.Tenants, visit func(*Hour)) error {
	if l == nil || l.shared == nil {
		return nil
	}
	at, names := firstHour(since), [4]string{} // of the last row that was read
	for {
		var page []Hour
		rows := 0
		err := l.shared.query(ctx, func(scan func(...any) error) error {
			h, read, err := scanHour(func(into ...any) error { return scan(append(into, &names[0])...) })
			if rows++; read {
				page = append(page, h)
			}
			at, names[1], names[2], names[3] = h.Start.UnixNano(), h.Tenant, h.Tool, h.Plugin
			return err
		}, `SELECT time, tenant, tool, plugin, data, folder FROM toolhost_history_hours WHERE folder <> $1 AND time >= $2
			AND (time, folder, tenant, tool, plugin) > ($2, $3, $4, $5, $6) AND ($7 = '' OR plugin = $7) AND ($8::text[] IS NULL OR tenant = ANY($8))
			ORDER BY time, folder, tenant, tool, plugin LIMIT $9`, at, names[0], names[1], names[2], names[3], plugin, []string(tenants), shareBatch)
		if err != nil {
			return fmt.Errorf("reading the statistics of other toolhosts: %w", err)
		}
		for i := range page {
			visit(&page[i])
		}
		if rows < shareBatch {
			return nil
		}
	}
}

// query reads rows of other toolhosts. It repeats a query that has read none because its connection
// was broken, which the pool notices only then.
func (s *shared) query(ctx context.Context, row func(scan func(...any) error) error, sql string, arguments ...any) (err error) {
	some := false
	each := func(scan func(...any) error) error { some = true; return row(scan) }
	for range poolSize + 1 {
		if err = s.queryOnce(ctx, each, sql, arguments...); err == nil || some || !pgconn.SafeToRetry(err) && !postgres.MayHaveRun(err) {
			break
		}
	}
	return err
}

func (s *shared) queryOnce(ctx context.Context, row func(scan func(...any) error) error, sql string, arguments ...any) error {
	return s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, sql, append([]any{s.cfg.Folder}, arguments...)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := row(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
