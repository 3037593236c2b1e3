package grants

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
)

// Tokens returns the tokens, for a tokenstore.Store.
func (s *Store) Tokens() tokenstore.Shared { return tokens{s} }

type tokens struct{ *Store }

// Name implements tokenstore.Shared.
func (t tokens) Name() string { return t.db.Name() }

// Records implements tokenstore.Shared.
func (t tokens) Records() (*[]tokenstore.Record, error) {
	if !t.Fresh() {
		return nil, fmt.Errorf("%s has not answered for %s, so that a token may have been revoked", t.db.Name(), Within)
	}
	return t.records.Load(), nil
}

// Change implements tokenstore.Shared.
func (t tokens) Change(ctx context.Context, f func([]tokenstore.Record) ([]tokenstore.Record, error)) error {
	return t.change(ctx, "tokens", func(ctx context.Context, tx pgx.Tx, _ int64) error {
		records, had, err := readTokens(ctx, tx, t.log)
		if err != nil {
			return err
		}
		if records, err = f(records); err != nil {
			return err
		}
		batch := &pgx.Batch{}
		for i := range records {
			r := &records[i]
			data, err := json.Marshal(r)
			if err != nil {
				return err
			}
			if had[r.ID] != string(data) {
				batch.Queue("INSERT INTO toolhost_tokens VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET data = excluded.data", r.ID, string(data))
			}
			delete(had, r.ID)
		}
		for id := range had {
			batch.Queue("DELETE FROM toolhost_tokens WHERE id = $1", id)
		}
		return tx.SendBatch(ctx, batch).Close()
	})
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// readTokens returns the tokens that it can read, and what the table has of each. A token that it
// cannot read is not valid here: a newer toolhost may have given it a limit that this one does not
// know. The other tokens stay valid.
func readTokens(ctx context.Context, q querier, log *slog.Logger) (records []tokenstore.Record, had map[string]string, err error) {
	rows, err := q.Query(ctx, "SELECT id, data FROM toolhost_tokens ORDER BY id")
	if err != nil {
		return nil, nil, err
	}
	had = map[string]string{}
	var id, data string
	_, err = pgx.ForEachRow(rows, []any{&id, &data}, func() error {
		var r tokenstore.Record
		decoder := json.NewDecoder(bytes.NewReader([]byte(data)))
		decoder.DisallowUnknownFields() // a limit that this program does not know must not be lost
		if err := decoder.Decode(&r); err != nil || r.ID != id {
			log.Warn("a token is refused, because a newer version of toolhost has written it, or its row is damaged", "token", id)
			return nil
		}
		had[id] = data
		records = append(records, r)
		return nil
	})
	return records, had, err
}
