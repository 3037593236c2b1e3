package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// Peer is another node of the ledger.
type Peer struct {
	ID, Name string // Name is that of the machine; see Node
	Address  string // where it can be reached; empty: nowhere
	Gone     bool
}

// Label names the node for people.
func (p Peer) Label() string {
	if p.Name == "" {
		return p.ID
	}
	return p.Name + " (" + p.ID + ")"
}

// PeerOfCall returns the node that executes a call, if it is another one.
func (s *Store) PeerOfCall(ctx context.Context, key callstore.Key) (p Peer, found bool, err error) {
	hash := key.Hash()
	return s.peer(ctx, "looking for the node of call "+key.ID, "SELECT n.node, n.name, n.address, false FROM toolhost_calls c JOIN toolhost_nodes n USING (node)"+
		" WHERE c.hash = $1 AND c.state = 0 AND n.gone IS NULL AND c.node <> $2", hash[:], s.node)
}

// PeerOfFolder returns the node that uses a state folder of another node, or the last that did.
// begin is what the id of the folder begins with, in lower case.
func (s *Store) PeerOfFolder(ctx context.Context, begin string) (p Peer, found bool, err error) {
	return s.peer(ctx, "looking for the node of a state folder", "SELECT node, name, address, gone IS NOT NULL FROM toolhost_nodes"+
		" WHERE left(lower(folder), length($1)) = $1 AND folder <> $2 ORDER BY gone IS NOT NULL, started DESC LIMIT 1", begin, s.cfg.Node.Folder)
}

func (s *Store) peer(ctx context.Context, doing, query string, arguments ...any) (p Peer, found bool, err error) {
	err = s.read(ctx, doing, func(ctx context.Context, conn *pgx.Conn) error {
		var node int64
		err := conn.QueryRow(ctx, query, arguments...).Scan(&node, &p.Name, &p.Address, &p.Gone)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		found, p.ID = err == nil, idOf(node)
		return err
	})
	return p, found, err
}
