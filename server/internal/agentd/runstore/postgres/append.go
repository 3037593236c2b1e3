package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

// retryPause is the pause between two attempts of an append while the database is gone.
const retryPause = 100 * time.Millisecond

// Append implements runstore.Store. It fails with ErrConflict unless this store has the claim of
// the batch's epoch, so that a process that lost its claim writes nothing, even while no store has
// the claim. The store that creates a run has its claim, with epoch 0. While the database is gone,
// Append tries again for some seconds, and then fails with runstore.ErrUnavailable.
func (s *Store) Append(ctx context.Context, batch runstore.Batch) error {
	if err := batch.Check(); err != nil {
		return err
	}
	if err := s.storable(&batch); err != nil {
		return err
	}
	token := []byte(rand.Text()) // the same in all attempts
	deadline := time.Now().Add(s.patience)
	for {
		err := s.attempt(ctx, &batch, token)
		if err == nil || errors.Is(err, runstore.ErrConflict) || errors.Is(err, runstore.ErrDeleted) {
			return err
		}
		if !errors.Is(err, postgres.ErrUnavailable) || ctx.Err() != nil || time.Now().After(deadline) {
			return s.failed("appending to run "+batch.RunID, err)
		}
		timer := time.NewTimer(retryPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// attempt tries once to write a batch. A new run is claimed with its first record, so this store
// needs its row before.
func (s *Store) attempt(ctx context.Context, b *runstore.Batch, token []byte) error {
	if b.After > 0 {
		return s.try(ctx, b, token)
	}
	if err := s.enter(ctx); err != nil {
		return err
	}
	err := s.try(ctx, b, token)
	if err == nil {
		return s.claims.took(map[string]uint64{b.RunID: 0}, nil)
	}
	return s.claims.took(nil, err)
}

func (s *Store) storable(b *runstore.Batch) error {
	for _, text := range []string{b.RunID, b.Head.Owner, b.Head.Tenant, b.Head.Parent} {
		if !storable(text) {
			return fmt.Errorf("appending to run %q: an id, owner, tenant or parent must be valid UTF-8 without NUL", b.RunID)
		}
	}
	for i := range b.Records {
		if !storable(b.Records[i].Type) {
			return fmt.Errorf("appending to run %s: the type of record %d must be valid UTF-8 without NUL", b.RunID, i+1)
		}
	}
	for _, v := range b.Verdicts {
		if !storable(v.Principal) {
			return fmt.Errorf("appending to run %s: the principal %q of a verdict must be valid UTF-8 without NUL", b.RunID, v.Principal)
		}
	}
	return nil
}

// try writes the batch, or finds that an earlier attempt has written it.
func (s *Store) try(ctx context.Context, b *runstore.Batch, token []byte) error {
	return s.db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		statement, arguments := s.statement(b, token)
		var written int
		if err := conn.QueryRow(ctx, statement, arguments).Scan(&written); err != nil || written > 0 {
			return err
		}
		var last, epoch int64
		var by []byte
		var claimer, deleted *int64
		err := conn.QueryRow(ctx, "SELECT last_seq, last_append, claimer, epoch, deleted FROM agentd_runs WHERE id = $1", b.RunID).Scan(&last, &by, &claimer, &epoch, &deleted)
		switch {
		case errors.Is(err, pgx.ErrNoRows) && b.After == 0:
			return fmt.Errorf("starting run %s: %w: this process does not have the claim of the parent %s", b.RunID, runstore.ErrConflict, b.Head.Parent)
		case errors.Is(err, pgx.ErrNoRows):
			return runstore.Conflict(b, 0)
		case err != nil:
			return err
		case deleted != nil && b.After == 0:
			return runstore.Deleted(b.RunID)
		case deleted != nil:
			return runstore.Conflict(b, 0)
		case string(by) == string(token):
			return confirm(ctx, conn, b.RunID, token)
		case uint64(last) != b.After:
			return runstore.Conflict(b, uint64(last))
		case claimer != nil && *claimer != s.claims.key:
			return fmt.Errorf("appending to run %s: %w: another process has claimed the run", b.RunID, runstore.ErrConflict)
		case claimer == nil || uint64(epoch) != b.Epoch:
			return fmt.Errorf("appending to run %s: %w: the claim under which this process writes has ended", b.RunID, runstore.ErrConflict)
		case b.Entry != "":
			return fmt.Errorf("appending to run %s: %w: the entry of its inbox has an outcome", b.RunID, runstore.ErrConflict)
		}
		return runstore.Conflict(b, uint64(last))
	})
}

// confirm returns once what an earlier attempt has written is as durable as PostgreSQL promises. A
// visible row is not enough: if the earlier attempt no longer waited for a synchronous standby, a
// failover may lose the row. A commit waits until the standby has all commits before it, too.
func confirm(ctx context.Context, conn *pgx.Conn, runID string, token []byte) error {
	tag, err := conn.Exec(ctx, "UPDATE agentd_runs SET last_append = last_append WHERE id = $1 AND last_append = $2", runID, token)
	if err == nil && tag.RowsAffected() == 0 { // nothing was written, so the commit waited for nothing
		err = fmt.Errorf("%w: the row has changed meanwhile", postgres.ErrUnavailable)
	}
	return err
}

// The parts of the statement that writes a batch. The first one decides: it finds or creates the
// run's row and locks it, and the others write nothing without it.
const (
	advanceRun = `WITH run AS (
	UPDATE agentd_runs SET updated = @updated, last_seq = @last, works = @works, last_append = @token, unfinished = @unfinished, ended = @ended, summary = @summary, decisions = @decisions, decide_by = @decide_by, posted = posted - (@entry::text <> '')::int, stalled = CASE WHEN @resumed::bool THEN stalled ELSE 0 END
	WHERE id = @id AND last_seq = @after AND deleted IS NULL AND claimer = @claimer AND epoch = @epoch
	AND (@entry::text = '' OR EXISTS (SELECT FROM agentd_inbox AS i WHERE i.run = agentd_runs.number AND i.id = @entry AND i.seq IS NULL))
	RETURNING number, owner, tenant)`
	// A process that lost the claim of a run starts no sub-run of it.
	createRun = `WITH mother AS (
	SELECT claimer FROM agentd_runs WHERE id = @parent AND deleted IS NULL FOR SHARE), run AS (
	INSERT INTO agentd_runs (id, created, updated, last_seq, last_append, unfinished, ended, summary, owner, tenant, parent, decisions, decide_by, claimer, works)
	SELECT @id, @created, @updated, @last, @token, @unfinished, @ended, @summary, @owner, @tenant, @parent, @decisions, @decide_by, @claimer, @works
	WHERE NOT EXISTS (SELECT FROM mother WHERE claimer IS DISTINCT FROM @claimer)
	ON CONFLICT (id) DO NOTHING
	RETURNING number, owner, tenant)`
	addRecords = `, added AS (
	INSERT INTO agentd_records (run, seq, time, type, version, data)
	SELECT run.number, @after::bigint + r.place, r.time, r.type, r.version, r.data FROM run,
		unnest(@times::bigint[], @types::text[], @versions::int[], @data::bytea[]) WITH ORDINALITY AS r (time, type, version, data, place))`
	addSpent = `, spent AS (
	INSERT INTO agentd_spending AS sum (day, owner, tenant, tokens, cost, attached)
	SELECT @day, owner, tenant, @tokens, @cost, @attached FROM run
	ON CONFLICT (day, owner) DO UPDATE SET tokens = sum.tokens + excluded.tokens, cost = sum.cost + excluded.cost, attached = sum.attached + excluded.attached)`
	addContents = `, attached AS (
	INSERT INTO agentd_contents (run, digest, data)
	SELECT run.number, c.digest, c.data FROM run, unnest(@digests::text[], @contents::bytea[]) AS c (digest, data)
	ON CONFLICT (run, digest) DO NOTHING)`
	addMessages = `, told AS (
	INSERT INTO agentd_outbox (id, kind, run, seq, decision, target, created, due, until)
	SELECT m.id, m.kind, @id, m.seq, m.decision, m.target, m.created, m.due, m.until FROM run,
		unnest(@message_ids::text[], @kinds::text[], @seqs::bigint[], @asked::text[], @targets::text[], @message_times::bigint[], @dues::bigint[], @untils::bigint[]) AS m (id, kind, seq, decision, target, created, due, until)
	ON CONFLICT (id) DO NOTHING)`
	addVerdicts = `, decided AS (
	INSERT INTO agentd_verdicts (principal, run, data)
	SELECT v.principal, run.number, v.data FROM run, unnest(@deciders::text[], @verdicts::bytea[]) AS v (principal, data))`
	renewSnapshot = `, cut AS (
	DELETE FROM agentd_snapshots USING run WHERE run = run.number AND part > @keep::bigint + cardinality(@parts::bytea[])), kept AS (
	INSERT INTO agentd_snapshots (run, part, data)
	SELECT run.number, CASE p.place WHEN 1 THEN 0 ELSE @keep::bigint + p.place - 1 END, p.data
	FROM run, unnest(array_prepend(@state::bytea, @parts::bytea[])) WITH ORDINALITY AS p (data, place)
	ON CONFLICT (run, part) DO UPDATE SET data = excluded.data)`
	countRuns = ` SELECT count(*) FROM run`
)

// statement returns the one statement that writes a batch.
func (s *Store) statement(b *runstore.Batch, token []byte) (string, pgx.NamedArgs) {
	n := len(b.Records)
	times, types, versions, data := make([]int64, n), make([]string, n), make([]int32, n), make([][]byte, n)
	for i := range b.Records {
		r := &b.Records[i]
		times[i], types[i], versions[i], data[i] = r.Time.UnixNano(), r.Type, int32(r.Version), r.Data
	}
	after := int64(min(b.After, math.MaxInt64-1<<32)) // no journal is so long
	arguments := pgx.NamedArgs{
		"id": b.RunID, "after": after, "last": after + int64(n), "works": after + int64(n), "token": token, "claimer": s.claims.key, "epoch": int64(b.Epoch),
		"created": times[0], "updated": times[n-1], "unfinished": b.Head.Unfinished, "ended": b.Head.Ended, "summary": []byte(b.Head.Summary), "owner": b.Head.Owner, "tenant": b.Head.Tenant, "parent": b.Head.Parent, "decisions": []byte(nil), "decide_by": b.Head.DecideByNanos(),
		"times": times, "types": types, "versions": versions, "data": data, "entry": b.Entry, "resumed": b.Resumed,
	}
	if b.Head.OnlyWaits {
		arguments["works"] = -arguments["last"].(int64)
	}
	if len(b.Head.Decisions) > 0 {
		arguments["decisions"] = []byte(b.Head.Decisions)
	}
	text := advanceRun
	if b.After == 0 {
		text = createRun
	}
	text += addRecords
	if !b.Spent.IsZero() {
		text += addSpent
		arguments["day"], arguments["tokens"], arguments["cost"], arguments["attached"] = b.Spent.Day, b.Spent.Tokens, b.Spent.Cost, b.Spent.Attached
	}
	if len(b.Contents) > 0 {
		text += addContents
		var digests []string
		var contents [][]byte
		for i := range b.Contents {
			digests, contents = append(digests, b.Contents[i].SHA256), append(contents, b.Contents[i].Data)
		}
		arguments["digests"], arguments["contents"] = digests, contents
	}
	if len(b.Messages) > 0 {
		text += addMessages
		messageArguments(arguments, b.Messages)
	}
	if len(b.Verdicts) > 0 {
		text += addVerdicts
		var deciders []string
		var verdicts [][]byte
		for _, v := range b.Verdicts {
			deciders, verdicts = append(deciders, v.Principal), append(verdicts, v.Data)
		}
		arguments["deciders"], arguments["verdicts"] = deciders, verdicts
	}
	if b.Entry != "" {
		text += consume
	}
	if r := b.Snapshot; r != nil {
		text += renewSnapshot
		parts := make([][]byte, len(r.Parts))
		for i, part := range r.Parts {
			parts[i] = append([]byte{}, part...) // nil would be NULL
		}
		arguments["keep"], arguments["state"], arguments["parts"] = int64(r.Keep), r.State, parts
	}
	return text + countRuns, arguments
}
