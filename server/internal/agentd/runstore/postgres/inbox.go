package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// The row of a run counts its entries without an outcome. So the statements that add an entry,
// consume one, or give the run up all lock and compare the same row. If a store tries a parked run
// now, or has tried it, each entry that is added to the run or to a run below it allows one more
// try. A request that is repeated with its id adds no entry, so it allows no further try.
const (
	post = `WITH RECURSIVE above AS (
	SELECT parent FROM agentd_runs WHERE id = $1 AND parent <> '' UNION ALL
	SELECT mother.parent FROM above, LATERAL (SELECT parent FROM agentd_runs WHERE id = above.parent AND unfinished LIMIT 1) AS mother), parked AS (
	SELECT number FROM agentd_runs WHERE id IN (SELECT parent FROM above) AND stalled >= $7 ORDER BY number FOR UPDATE), run AS (
	UPDATE agentd_runs AS r SET posted = posted + 1, stalled = ` + tryAgain + ` WHERE id = $1 AND deleted IS NULL AND posted < $6
	AND NOT EXISTS (SELECT FROM agentd_inbox AS known WHERE known.run = r.number AND known.id = $2) AND (SELECT count(*) FROM parked) >= 0 -- locks them first, as others do
	RETURNING number), again AS (
	UPDATE agentd_runs SET stalled = ` + tryAgain + ` WHERE number IN (SELECT number FROM parked) AND EXISTS (SELECT FROM run))
INSERT INTO agentd_inbox (run, id, data, digests, contents) SELECT number, $2, $3, $4, $5 FROM run`

	tryAgain = "least(stalled, CASE WHEN claimer IS NULL THEN $7::int ELSE $7::int - 1 END)"

	entries = `SELECT i.id, i.data FROM agentd_inbox AS i JOIN agentd_runs AS r ON i.run = r.number
	WHERE r.id = $1 AND i.seq IS NULL ORDER BY i.number LIMIT 100`

	settle = `WITH run AS (
	UPDATE agentd_runs AS r SET posted = posted - 1 WHERE id = $1 AND claimer = $3 AND epoch = $4
	AND EXISTS (SELECT FROM agentd_inbox AS i WHERE i.run = r.number AND i.id = $2 AND i.seq IS NULL)
	RETURNING number)
UPDATE agentd_inbox AS i SET seq = $5, refusal = $6, data = NULL, digests = NULL, contents = NULL FROM run WHERE i.run = run.number AND i.id = $2`

	// consume is a part of the statement that writes a batch. Its first part reads the row as it was.
	consume = `, entry AS (
	SELECT i.run, i.digests, i.contents FROM agentd_inbox AS i JOIN run ON i.run = run.number WHERE i.id = @entry), unpacked AS (
	INSERT INTO agentd_contents (run, digest, data)
	SELECT entry.run, c.digest, c.data FROM entry, unnest(entry.digests, entry.contents) AS c (digest, data)
	ON CONFLICT (run, digest) DO NOTHING), consumed AS (
	UPDATE agentd_inbox AS i SET seq = @after::bigint + 1, data = NULL, digests = NULL, contents = NULL FROM run WHERE i.run = run.number AND i.id = @entry)`

	outcomes = `SELECT wanted.run, wanted.id, i.number, i.seq, i.refusal FROM unnest($1::text[], $2::text[]) AS wanted (run, id)
	LEFT JOIN agentd_runs AS r ON r.id = wanted.run LEFT JOIN agentd_inbox AS i ON i.run = r.number AND i.id = wanted.id
	WHERE i.number IS NULL OR i.seq IS NOT NULL`

	// postedRuns finds the entries first, of which there are few.
	postedRuns = "FROM agentd_runs AS runs WHERE posted > 0 AND (claimer = $1 OR EXISTS (SELECT FROM agentd_runs AS mother WHERE mother.id = runs.parent AND mother.claimer = $1)) ORDER BY number LIMIT $2"

	// leaveRuns locks the rows before it compares them, so that it sees an entry that another session
	// has just added. It counts as giveUp does.
	leaveRuns = `WITH held AS (
	SELECT r.number, r.posted, family.wait, family.rests FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bool[]) AS family (id, epoch, wait, rests)
	JOIN agentd_runs AS r ON r.id = family.id AND r.epoch = family.epoch WHERE r.claimer = $1 ORDER BY r.number FOR UPDATE OF r), quiet AS (
	SELECT number, wait, rests FROM held WHERE NOT EXISTS (SELECT FROM held WHERE posted > 0)), gone AS (
	UPDATE agentd_runs AS r SET claimer = NULL, wake_at = clock_timestamp() + quiet.wait * interval '1 microsecond', stalled = CASE WHEN quiet.rests THEN 0 ELSE least(stalled, $6) END FROM quiet WHERE r.number = quiet.number RETURNING r.number)
SELECT EXISTS (SELECT FROM gone) OR NOT EXISTS (SELECT FROM held)`
)

// Post implements runstore.Inbox.
func (s *Store) Post(ctx context.Context, e runstore.Entry) error {
	if !storable(e.RunID) || !storable(e.ID) {
		return runstore.NotFound(e.RunID)
	}
	var digests []string
	var contents [][]byte
	for i := range e.Contents {
		digests, contents = append(digests, e.Contents[i].SHA256), append(contents, e.Contents[i].Data)
	}
	err := s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, post, e.RunID, e.ID, []byte(e.Data), digests, contents, runstore.MaxPosted, runstore.MaxStalled)
		if errors.Is(postgres.Error(err), postgres.ErrConflict) || err == nil && tag.RowsAffected() > 0 {
			return nil // in the former case, another one has added the entry meanwhile
		}
		if err != nil {
			return err
		}
		var known bool
		err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM agentd_inbox AS i WHERE i.run = r.number AND i.id = $2) FROM agentd_runs AS r WHERE id = $1 AND deleted IS NULL", e.RunID, e.ID).Scan(&known)
		if err == nil && !known {
			err = runstore.Full(e.RunID)
		}
		return err
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return runstore.NotFound(e.RunID)
	case err == nil, errors.Is(err, runstore.ErrUnavailable):
		return err
	}
	return s.failed("writing to the inbox of run "+e.RunID, err)
}

// Entries implements runstore.Inbox.
func (s *Store) Entries(ctx context.Context, runID string) (page []runstore.Entry, err error) {
	err = s.rows(ctx, entries, []any{runID}, func(row pgx.CollectableRow) error {
		e := runstore.Entry{EntryRef: runstore.EntryRef{RunID: runID}}
		err := row.Scan(&e.ID, (*[]byte)(&e.Data))
		page = append(page, e)
		return err
	})
	if err != nil {
		return nil, s.failed("reading the inbox of run "+runID, err)
	}
	return page, nil
}

// Settle implements runstore.Inbox.
func (s *Store) Settle(ctx context.Context, ref runstore.EntryRef, epoch uint64, o runstore.Outcome) error {
	return s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, settle, ref.RunID, ref.ID, s.claims.key, int64(epoch), int64(o.Seq), []byte(o.Refusal))
		switch {
		case err != nil:
			return s.failed("settling an entry of run "+ref.RunID, postgres.Error(err))
		case tag.RowsAffected() == 0:
			return fmt.Errorf("settling an entry of run %s: %w: the claim has ended, or the entry has an outcome", ref.RunID, runstore.ErrConflict)
		}
		return nil
	})
}

// Outcomes implements runstore.Inbox. Like confirm it writes to the rows before it returns, because
// what is visible may still be lost.
func (s *Store) Outcomes(ctx context.Context, refs []runstore.EntryRef) (map[runstore.EntryRef]runstore.Outcome, error) {
	runs, ids := make([]string, len(refs)), make([]string, len(refs))
	for i, ref := range refs {
		runs[i], ids[i] = ref.RunID, ref.ID
	}
	found := make(map[runstore.EntryRef]runstore.Outcome)
	var numbers []int64
	err := s.rows(ctx, outcomes, []any{runs, ids}, func(row pgx.CollectableRow) error {
		var ref runstore.EntryRef
		var number, seq *int64
		var o runstore.Outcome
		if err := row.Scan(&ref.RunID, &ref.ID, &number, &seq, (*[]byte)(&o.Refusal)); err != nil {
			return err
		}
		if seq != nil {
			o.Seq = uint64(*seq)
			numbers = append(numbers, *number)
		}
		found[ref] = o
		return nil
	})
	if err == nil && len(numbers) > 0 {
		err = s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "UPDATE agentd_inbox SET seq = seq WHERE number = ANY ($1)", numbers)
			return err
		})
	}
	if err != nil {
		return nil, s.failed("reading what became of requests", err)
	}
	return found, nil
}

// Posted implements runstore.Sharing.
func (s *Store) Posted(ctx context.Context) ([]runstore.Run, error) {
	runs, _, err := s.runs(ctx, "SELECT "+runColumns+" "+postedRuns, s.claims.key, runstore.MaxPage)
	if err != nil {
		return nil, s.failed("looking for requests", err)
	}
	return runs, nil
}

// Leave implements runstore.Sharing.
func (s *Store) Leave(family []runstore.Leaving) (left bool) {
	ids, epochs, waits, rests := make([]string, len(family)), make([]int64, len(family)), make([]*int64, len(family)), make([]bool, len(family))
	for i, run := range family {
		ids[i], epochs[i], rests[i] = run.RunID, int64(run.Epoch), run.Rests
		if run.Wait > 0 {
			waits[i] = new(run.Wait.Microseconds())
		}
	}
	err := s.row(context.Background(), family[0].RunID, leaveRuns, []any{s.claims.key, ids, epochs, waits, rests, runstore.MaxStalled}, &left)
	if err != nil {
		s.claims.doubt()
		left = true
	}
	if left {
		for _, run := range family {
			s.claims.left(run.RunID, run.Epoch)
		}
	}
	return left
}
