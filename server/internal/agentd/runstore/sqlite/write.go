package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// maxGroup is the largest number of batches in one commit, so that no batch waits for an endless
// group.
const maxGroup = 128

// request is an Append, a Delete or a change of the outbox that waits for the write loop.
type request struct {
	batch    runstore.Batch
	deletion *runstore.Deletion // nil: the request is an Append, or else change is set
	change   func(ctx context.Context, w *writes) error
	done     chan error // capacity 1; gets exactly one answer
}

// what names the request in errors.
func (r *request) what() string {
	if r.deletion != nil {
		return fmt.Sprintf("deleting %d runs", len(r.deletion.Last))
	}
	if r.change != nil {
		return "changing the outbox"
	}
	return "appending to run " + r.batch.RunID
}

// Append implements runstore.Store.
func (s *Store) Append(ctx context.Context, batch runstore.Batch) error {
	if err := batch.Check(); err != nil {
		return err
	}
	return s.submit(ctx, &request{batch: batch, done: make(chan error, 1)})
}

// Delete implements runstore.Store.
func (s *Store) Delete(ctx context.Context, deletion runstore.Deletion) error {
	return s.submit(ctx, &request{deletion: &deletion, done: make(chan error, 1)})
}

// submit hands a request to the write loop, and returns its answer.
func (s *Store) submit(ctx context.Context, req *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-s.closing:
		return fmt.Errorf("%s: %w", req.what(), ErrClosed)
	default:
	}
	select {
	case s.queue <- req:
	case <-s.closing:
		return fmt.Errorf("%s: %w", req.what(), ErrClosed)
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-req.done:
		return err
	case <-s.stopped:
		// The loop answers every request that it takes. So this request has its answer, or the loop
		// has never taken it.
		select {
		case err := <-req.done:
			return err
		default:
			return fmt.Errorf("%s: %w", req.what(), ErrClosed)
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// writeLoop commits batches until the store closes. Batches that wait at the same time share a
// commit.
func (s *Store) writeLoop() {
	defer close(s.stopped)
	for {
		select {
		case first := <-s.queue:
			s.commit(s.gather(first))
		case <-s.closing:
			for {
				select {
				case first := <-s.queue:
					s.commit(s.gather(first))
				default:
					return
				}
			}
		}
	}
}

func (s *Store) gather(first *request) []*request {
	group := []*request{first}
	for len(group) < maxGroup {
		select {
		case req := <-s.queue:
			group = append(group, req)
		default:
			return group
		}
	}
	return group
}

// commit writes a group in one transaction and answers each request. A request with a conflict
// writes nothing and does not affect the others. A failure of the database affects all.
func (s *Store) commit(group []*request) {
	// The group has several callers, so no caller's context may cancel it.
	ctx := context.Background()
	refused := make([]error, len(group))
	err := func() error {
		tx, err := s.writer.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		writes := s.writes.in(ctx, tx)
		for i, req := range group {
			err := writes.carryOut(ctx, req)
			if errors.Is(err, runstore.ErrConflict) || errors.Is(err, runstore.ErrDeleted) || errors.Is(err, runstore.ErrNotFound) {
				refused[i] = err
			} else if err != nil {
				return err
			}
		}
		return tx.Commit()
	}()
	for i, req := range group {
		switch {
		case refused[i] != nil:
			req.done <- refused[i]
		case err != nil:
			req.done <- fmt.Errorf("%s in %s: %w", req.what(), s.path, err)
		default:
			req.done <- nil
		}
	}
}

// carryOut carries out one request.
func (w *writes) carryOut(ctx context.Context, req *request) error {
	if req.deletion != nil {
		return w.delete(ctx, req.deletion)
	}
	if req.change != nil {
		return req.change(ctx, w)
	}
	return w.add(ctx, &req.batch)
}

// add writes one batch. It checks for ErrConflict and ErrDeleted before it writes.
func (w *writes) add(ctx context.Context, b *runstore.Batch) error {
	var number, last int64
	err := w.find.QueryRowContext(ctx, b.RunID).Scan(&number, &last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if uint64(last) != b.After {
		return runstore.Conflict(b, uint64(last))
	}
	first, newest := &b.Records[0], &b.Records[len(b.Records)-1]
	end := last + int64(len(b.Records))
	if last == 0 {
		var one int
		switch err := w.wasDeleted.QueryRowContext(ctx, b.RunID).Scan(&one); {
		case err == nil:
			return runstore.Deleted(b.RunID)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		res, err := w.create.ExecContext(ctx,
			b.RunID, first.Time.UnixNano(), newest.Time.UnixNano(), end, b.Head.Unfinished, b.Head.Ended, []byte(b.Head.Summary), b.Head.Owner, b.Head.Tenant, b.Head.Parent,
			orNull(b.Head.Decisions), b.Head.DecideByNanos())
		if err != nil {
			return err
		}
		if number, err = res.LastInsertId(); err != nil {
			return err
		}
	} else if _, err := w.advance.ExecContext(ctx,
		newest.Time.UnixNano(), end, b.Head.Unfinished, b.Head.Ended, []byte(b.Head.Summary), orNull(b.Head.Decisions), b.Head.DecideByNanos(), number); err != nil {
		return err
	}
	for i := range b.Records {
		r := &b.Records[i]
		if _, err := w.record.ExecContext(ctx,
			number, last+1+int64(i), r.Time.UnixNano(), r.Type, r.Version, []byte(r.Data)); err != nil {
			return err
		}
	}
	if !b.Spent.IsZero() {
		if _, err := w.spend.ExecContext(ctx, b.Spent.Day, b.Spent.Tokens, b.Spent.Cost, b.Spent.Attached, number); err != nil {
			return err
		}
	}
	for i := range b.Contents {
		if err := w.addContent(ctx, number, &b.Contents[i]); err != nil {
			return err
		}
	}
	for _, v := range b.Verdicts {
		if _, err := w.decide.ExecContext(ctx, v.Principal, number, []byte(v.Data)); err != nil {
			return err
		}
	}
	if err := w.addMessages(ctx, b.Messages); err != nil {
		return err
	}
	if b.Snapshot != nil {
		return w.renew(ctx, number, b.Snapshot)
	}
	return nil
}

// orNull returns a value of a column, which is NULL if it is empty.
func orNull(data []byte) any {
	if len(data) == 0 {
		return nil
	}
	return data
}

// contentPart is the size of the rows of a content. SQLite keeps a row in a chain of pages that it
// reads from the start, so rows of many megabytes are slow, and no program can copy them in steps.
const contentPart = 256 << 10

func (w *writes) addContent(ctx context.Context, run int64, c *runstore.Content) error {
	part := 0
	for data := range slices.Chunk(c.Data, contentPart) {
		if _, err := w.content.ExecContext(ctx, run, c.SHA256, part, data); err != nil {
			return err
		}
		part++
	}
	return nil
}

func (w *writes) renew(ctx context.Context, run int64, s *runstore.Renewal) error {
	if _, err := w.cut.ExecContext(ctx, run, s.Keep); err != nil {
		return err
	}
	if _, err := w.keep.ExecContext(ctx, run, 0, s.State); err != nil {
		return err
	}
	for i, part := range s.Parts {
		if _, err := w.keep.ExecContext(ctx, run, s.Keep+1+i, part); err != nil {
			return err
		}
	}
	return nil
}
