package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

const (
	// takeHome is also a use of the session. A row that it conflicts with may be too new for the
	// statement to read, so it returns none, and the next one does.
	takeHome = `
WITH taken AS (
	INSERT INTO toolhost_homes AS h (hash, folder, node, name, used) VALUES (@hash, @folder, @node, @name, @now)
	ON CONFLICT (hash) DO UPDATE SET used = excluded.used WHERE h.used < excluded.used - @day
	RETURNING folder, node, name),
home AS (SELECT * FROM taken UNION ALL SELECT folder, node, name FROM toolhost_homes WHERE hash = @hash LIMIT 1)
SELECT folder, node, name, (SELECT coalesce(sum(b.count), 0)::bigint FROM toolhost_beats b JOIN toolhost_nodes n USING (node) WHERE n.folder = home.folder AND n.gone IS NULL) FROM home`
	moveHome = `
INSERT INTO toolhost_homes (hash, folder, node, name, used) VALUES (@hash, @folder, @node, @name, @now)
ON CONFLICT (hash) DO UPDATE SET folder = excluded.folder, node = excluded.node, name = excluded.name, used = excluded.used
RETURNING folder, node, name, 0::bigint`
)

const (
	// keepHomes is how long the row of a session stays that is not used. A session that goes on later
	// has the home that its next call gets.
	keepHomes = 90 * 24 * time.Hour
	// sweepHomes is how many questions a node asks until it removes such rows.
	sweepHomes = 1024
)

// Home implements host.Homes: the home of a session is a state folder, whose disk has its files.
func (s *Store) Home(ctx context.Context, principal, session string, move bool) (found callstore.Home, err error) {
	if !s.Unreachable().IsZero() { // calls without side effects do not wait for it
		return found, errors.New("the database of the ledger cannot be reached")
	}
	hash := callstore.Key{Principal: principal, Session: session}.Hash()
	arguments := pgx.NamedArgs{"hash": hash[:], "folder": s.cfg.Node.Folder, "node": s.node, "name": s.cfg.Node.Name, "now": s.Now().UnixNano()}
	query := moveHome
	if !move {
		query, arguments["day"] = takeHome, (24 * time.Hour).Nanoseconds()
	}
	err = s.read(ctx, "looking for the workspace of a session", func(ctx context.Context, conn *pgx.Conn) error {
		for range 2 {
			var folder, name string
			var node int64
			err := conn.QueryRow(ctx, query, arguments).Scan(&folder, &node, &name, &found.Life)
			if !errors.Is(err, pgx.ErrNoRows) {
				if found.Here = folder == s.cfg.Node.Folder; found.Here {
					found.Life = 0
				}
				found.At = Peer{ID: idOf(node), Name: name}.Label()
				return err
			}
		}
		return pgx.ErrNoRows
	})
	if err == nil && s.homes.Add(1)%sweepHomes == 0 {
		_ = s.read(ctx, "forgetting sessions", func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "DELETE FROM toolhost_homes WHERE used < $1", s.Now().Add(-keepHomes).UnixNano())
			return err // the next one does it again
		})
	}
	return found, err
}
