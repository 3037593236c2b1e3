package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// cursor is the name of the cursor, which is unique on the connection.
const cursor = "toolhost_rows"

// Query runs one SELECT statement as a role and returns its answer, up to limits. Parameters are
// texts, or nil for NULL. The server parses them as the types that the statement needs. Query
// blocks until the end or until ctx is done. It then asks the server to stop, and returns an error
// that wraps ctx's error.
func Query(ctx context.Context, role Role, text string, parameters []*string, limits rowset.Limits) (rowset.Answer, error) {
	if strings.ContainsRune(text, 0) {
		return rowset.Answer{}, errors.New("the SQL has a character NUL, which PostgreSQL does not take; leave it out")
	}
	if strings.TrimSpace(text) == "" {
		return rowset.Answer{}, errors.New("the SQL is empty; send one SELECT statement")
	}
	s, err := open(ctx, role, limits.Bytes)
	if err != nil {
		return rowset.Answer{}, err
	}
	defer s.close(ctx)
	// The extended protocol refuses several statements in one message. DECLARE refuses all but a
	// SELECT.
	if err := s.declare(ctx, text, parameters); err != nil {
		return rowset.Answer{}, err
	}
	fetch, err := s.conn.Prepare(ctx, "toolhost_fetch", fmt.Sprintf("FETCH FORWARD %d FROM %s", limits.Rows+1, cursor), nil)
	if err != nil {
		return rowset.Answer{}, explained(ctx, err)
	}
	types, err := s.types(ctx, fetch.Fields)
	if err != nil {
		return rowset.Answer{}, err
	}
	return s.read(ctx, fetch, types, limits)
}

func (s *session) declare(ctx context.Context, text string, parameters []*string) error {
	values := make([][]byte, len(parameters))
	for i, p := range parameters {
		if p != nil {
			values[i] = []byte(*p)
		}
	}
	_, err := s.conn.ExecParams(ctx, "DECLARE "+cursor+" NO SCROLL CURSOR FOR "+text, values, nil, nil, nil).Close()
	if err != nil {
		return explained(ctx, err)
	}
	return nil
}

// read reads rows up to a limit. It does not read the rest: the connection is closed.
func (s *session) read(ctx context.Context, fetch *pgconn.StatementDescription, types []columnType, limits rowset.Limits) (rowset.Answer, error) {
	columns := make([]rowset.Column, len(types))
	for i, t := range types {
		columns[i] = rowset.Column{Name: fetch.Fields[i].Name, Type: t.name}
	}
	collector := rowset.Collector{Limits: limits}
	rows := s.conn.ExecPrepared(ctx, fetch.Name, nil, nil, nil)
	for rows.NextRow() {
		values := rows.Values()
		row := make([]rowset.Value, len(values))
		for i, value := range values {
			row[i] = types[i].encode(value)
		}
		if !collector.Add(row) {
			s.abandon(ctx)
			return collector.Answer(columns), nil
		}
	}
	if _, err := rows.Close(); err != nil {
		if _, large := errors.AsType[*pgproto3.ExceededMaxBodyLenErr](err); large {
			collector.CutBytes()
			return collector.Answer(columns), nil
		}
		return rowset.Answer{}, explained(ctx, err)
	}
	return collector.Answer(columns), nil
}

// abandon asks the server to stop sending rows.
func (s *session) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	_ = s.conn.CancelRequest(ctx) // closing the connection also stops it, but later
}
