package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

const (
	// takeHome also records that the session is used. Another session may insert the row after the
	// snapshot of the statement. The statement then conflicts with the row and cannot read it, so it
	// returns no row, and the next attempt reads it. The sum includes the beats of nodes that are
	// gone, so it only grows.
	takeHome = `
WITH taken AS (
	INSERT INTO toolhost_homes AS h (hash, folder, node, name, used) VALUES (@hash, @folder, @node, @name, @now)
	ON CONFLICT (hash) DO UPDATE SET used = excluded.used WHERE h.used < excluded.used - @day
	RETURNING folder, node, name),
home AS (SELECT * FROM taken UNION ALL SELECT folder, node, name FROM toolhost_homes WHERE hash = @hash LIMIT 1)
SELECT folder, node, name, (SELECT coalesce(sum(b.count), 0)::bigint FROM toolhost_beats b JOIN toolhost_nodes n USING (node) WHERE n.folder = home.folder) FROM home`
	// moveHome moves a session only from where the approval says that it is.
	moveHome = "UPDATE toolhost_homes SET folder = @folder, node = @node, name = @name, used = @now WHERE hash = @hash AND node = @from"
)

const (
	// keepHomes is how long the row of a session stays that is not used. A session that goes on later
	// has the home that its next call gets.
	keepHomes = 90 * 24 * time.Hour
	// sweepHomes is how many questions a node asks until it removes such rows.
	sweepHomes = 1024
	// maxSweep bounds the rows that one statement removes, so that no call waits long.
	maxSweep = 500
)

const dropHomes = "DELETE FROM toolhost_homes WHERE hash IN (SELECT hash FROM toolhost_homes WHERE used < $1 ORDER BY used LIMIT $2 FOR UPDATE SKIP LOCKED)"

// Home implements host.Homes: the home of a session is a state folder, whose disk has its files.
func (s *Store) Home(ctx context.Context, principal, session, from string) (found callstore.Home, err error) {
	if !s.Unreachable().IsZero() { // calls without side effects do not wait for it
		return found, errors.New("the database of the ledger cannot be reached")
	}
	hash := callstore.Key{Principal: principal, Session: session}.Hash()
	arguments := pgx.NamedArgs{
		"hash": hash[:], "folder": s.cfg.Node.Folder, "node": s.node, "name": s.cfg.Node.Name, "now": s.Now().UnixNano(), "day": (24 * time.Hour).Nanoseconds(),
	}
	if from != "" {
		node, err := strconv.ParseUint(from, 16, 64)
		if err != nil {
			return found, fmt.Errorf("moving a session: %w", err)
		}
		arguments["from"] = int64(node)
	}
	err = s.read(ctx, "looking for the workspace of a session", func(ctx context.Context, conn *pgx.Conn) error {
		if from != "" {
			if _, err := conn.Exec(ctx, moveHome, arguments); err != nil {
				return err
			}
		}
		for range 2 {
			var folder, name string
			var node int64
			err := conn.QueryRow(ctx, takeHome, arguments).Scan(&folder, &node, &name, &found.Life)
			if !errors.Is(err, pgx.ErrNoRows) {
				if found.Here = folder == s.cfg.Node.Folder; found.Here {
					found.Life = 0
				}
				found.ID, found.At = idOf(node), Peer{ID: idOf(node), Name: name}.Label()
				return err
			}
		}
		return pgx.ErrNoRows
	})
	if err == nil && s.homes.Add(1)%sweepHomes == 0 {
		_ = s.read(ctx, "forgetting sessions", func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, dropHomes, s.Now().Add(-keepHomes).UnixNano(), maxSweep)
			return err // the next one does it again
		})
	}
	return found, err
}
