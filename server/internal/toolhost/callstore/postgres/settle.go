package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// The statements of Settle change the call of a number, if its outcome is unknown and its tool can
// be asked, or if an earlier attempt has changed it. The verdict of a check that seals counts even
// while the call is under way at another node. The ledger then refuses the end that this node
// writes, because the row has another number or state.
const (
	theCall = ` WHERE c.number = @number AND c.hash = @hash AND (c.token = @token OR c.arguments IS NOT NULL AND
	(c.state = 3 OR c.state = 0 AND (` + orSealed + `EXISTS (SELECT FROM toolhost_nodes n WHERE n.node = c.node AND n.gone IS NOT NULL)))) RETURNING c.number, c.tenant)`
	orSealed = "c.seals AND c.node <> @node AND @verdict <> 3 OR "
	noteCall = "WITH settled AS (UPDATE toolhost_calls c SET verdict = @verdict, reason = @reason, token = @token" + theCall
	// A node of an older version that begins the call again sets neither effect_key nor seals.
	freeCall = `WITH settled AS (UPDATE toolhost_calls c SET verdict = @verdict, reason = @reason, token = @token, state = 5, ended = @ended, error = NULL,
	effect_key = '', seals = false` + theCall
	settleCall = `WITH settled AS (UPDATE toolhost_calls c SET verdict = @verdict, reason = @reason, token = @token, state = @state, ended = @ended,
	plugin = CASE @plugin WHEN '' THEN c.plugin ELSE @plugin END, instance = @instance, error = @error, arguments = NULL` + theCall
	dropOutcome = ", dropped AS (DELETE FROM toolhost_outcomes o USING settled WHERE o.number = settled.number)"
	keepOutcome = `, kept AS (INSERT INTO toolhost_outcomes (number, tenant, ended, data) SELECT number, tenant, @ended, @data FROM settled
	ON CONFLICT (number) DO UPDATE SET ended = excluded.ended, data = excluded.data, place = DEFAULT)`
	countSettled = " SELECT number FROM settled"
)

func (w *writer) queueSettle(batch *pgx.Batch, o *op) {
	arguments := pgx.NamedArgs{
		"node": w.store.node, "number": o.number, "hash": o.hash[:], "token": o.token, "verdict": callstore.VerdictNumber(o.said.Verdict), "reason": o.said.Reason, "ended": o.ended.UnixNano(),
	}
	var text string
	switch o.said.Verdict {
	case tool.VerdictDidNotHappen:
		text = freeCall + dropOutcome
	case tool.VerdictHappened:
		e := &o.ending
		arguments["state"], arguments["plugin"], arguments["instance"], arguments["error"] = int16(e.Stands), e.Plugin, e.Instance, e.Short
		if e.Data == nil || w.outcomes+int64(len(e.Data)) > w.store.cfg.MaxBytes {
			text = settleCall + dropOutcome
			break
		}
		w.outcomes += int64(len(e.Data))
		arguments["data"] = e.Data
		text = settleCall + keepOutcome
	default:
		arguments["verdict"] = callstore.VerdictNumber(tool.VerdictUnknown)
		text = noteCall
	}
	batch.Queue(text+countSettled, arguments).QueryRow(func(row pgx.Row) error {
		var number int64
		err := row.Scan(&number)
		if errors.Is(err, pgx.ErrNoRows) {
			o.refused, err = callstore.ErrNotUnknown, nil
		}
		return err
	})
}
