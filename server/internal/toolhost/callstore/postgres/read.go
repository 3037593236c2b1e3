package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// A call c stands as its row says, but for one that has begun: it is unknown once its node n is
// gone. Nothing is written then: a late end of the node, which knows more, still replaces it.
const (
	lost      = "c.state = 0 AND n.gone IS NOT NULL"
	elsewhere = "c.state = 0 AND n.gone IS NULL AND c.node <> @node"
	columns   = `c.number, c.principal, c.session, c.id, c.sum, c.tool, c.plugin, c.instance, c.begun, coalesce(c.ended, n.gone, 0),
	CASE WHEN ` + lost + ` THEN 4 ELSE c.state END, c.error, c.verdict, c.reason,
	CASE WHEN ` + elsewhere + ` THEN coalesce(nullif(n.name, ''), 'another one') ELSE '' END,
	c.seals AND NOT (` + near + " AND (c.state = 3 OR " + lost + "))"
	fromCalls = " FROM toolhost_calls c LEFT JOIN toolhost_nodes n ON n.node = c.node"
	// near is the condition that every check at this node can say what became of a call. The effects
	// of a call may be on the files of the machine that executed it, so a check elsewhere may not see
	// them. A check that seals can say it at any node.
	near    = "(c.node = @node OR coalesce(n.folder = @folder AND n.boot = @boot, false))"
	askable = "(" + near + " OR c.seals)"
)

// arguments returns the arguments that the constants name.
func (s *Store) arguments() pgx.NamedArgs {
	return pgx.NamedArgs{"node": s.node, "folder": s.cfg.Node.Folder, "boot": s.cfg.Node.Boot, "ledger": s.id}
}

// scan reads columns and, if the statement selects them, the data of the outcome and the arguments.
func scan(row pgx.Row, data bool) (e callstore.Entry, err error) {
	var sum, short, outcome []byte
	var begun, ended int64
	var stands callstore.Standing
	var verdict int
	var reason string
	into := []any{&e.Number, &e.Principal, &e.Session, &e.ID, &sum, &e.Tool, &e.Plugin, &e.Instance, &begun, &ended, &stands, &short, &verdict, &reason, &e.Elsewhere, &e.SealOnly}
	if data {
		into = append(into, &outcome, &e.Arguments, &e.EffectKey, &e.Beat)
	}
	if err := row.Scan(into...); err != nil {
		return callstore.Entry{}, err
	}
	if copy(e.Sum[:], sum) != len(e.Sum) {
		return callstore.Entry{}, fmt.Errorf("reading the digest: %w", callstore.ErrDamaged)
	}
	e.Begun = time.Unix(0, begun).UTC()
	if stands != callstore.StandsBegun {
		e.Ended = time.Unix(0, ended).UTC()
	}
	e.Settled = callstore.SettlementOf(verdict, reason)
	return e, e.Decode(stands, short, outcome != nil, outcome)
}

// Known implements callstore.Reader. It is always true: another node may have begun the call.
func (s *Store) Known(callstore.Key) bool { return true }

// Find implements callstore.Reader. The entry has the arguments of a call only if a tool at this
// node can settle it; see SealOnly.
func (s *Store) Find(ctx context.Context, key callstore.Key) (e callstore.Entry, found bool, err error) {
	const query = "SELECT " + columns + ", o.data, CASE WHEN " + askable + " THEN c.arguments END, c.effect_key, CASE WHEN " + elsewhere + " THEN coalesce(b.count, 0) ELSE 0 END" + fromCalls +
		" LEFT JOIN toolhost_beats b ON b.node = c.node LEFT JOIN toolhost_outcomes o ON o.number = c.number AND o.ended > @expired WHERE c.hash = @hash"
	arguments, hash := s.arguments(), key.Hash()
	arguments["hash"], arguments["expired"] = hash[:], s.Now().Add(-s.cfg.KeepResults).UnixNano()
	if took := s.cfg.Took; took != nil {
		defer func(begun time.Time) { took(findStatement, time.Since(begun)) }(time.Now())
	}
	err = s.read(ctx, "looking for call "+key.ID, func(ctx context.Context, conn *pgx.Conn) error {
		e, err = scan(conn.QueryRow(ctx, query, arguments), true)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		found = err == nil && e.Key == key
		return err
	})
	if err != nil || !found {
		return callstore.Entry{}, false, err
	}
	return e, true, nil
}

// List implements callstore.Reader. It returns the calls of all nodes, but only unsettled ones that
// a tool at this node can settle.
func (s *Store) List(ctx context.Context, q callstore.Query) (entries []callstore.Entry, err error) {
	if q.Limit <= 0 || q.Limit > callstore.MaxPage {
		q.Limit = callstore.MaxPage
	}
	query, arguments := "SELECT "+columns+fromCalls+" WHERE true", s.arguments()
	and := func(condition, name string, value any) {
		query, arguments[name] = query+" AND "+condition, value
	}
	for _, column := range [][2]string{{"plugin", q.Plugin}, {"tool", q.Tool}, {"session", q.Session}, {"id", q.ID}} {
		if name, want := column[0], column[1]; want != "" {
			and("c."+name+" = @"+name, name, want)
		}
	}
	if q.Before > 0 {
		and("c.number < @before", "before", q.Before)
	}
	if q.Tenants != nil {
		and("c.tenant = ANY(@tenants)", "tenants", []string(q.Tenants))
	}
	if q.Unsettled {
		query += " AND c.arguments IS NOT NULL AND (c.state = 3 OR " + lost + ") AND " + askable
	}
	if q.State != "" {
		var states []int64
		for stands := callstore.StandsBegun; stands <= callstore.StandsFree; stands++ {
			if stands.How() == q.State {
				states = append(states, int64(stands))
			}
		}
		and("CASE WHEN "+lost+" THEN 4 ELSE c.state END = ANY(@states)", "states", states)
	}
	and("true ORDER BY c.number DESC LIMIT @limit", "limit", q.Limit)
	err = s.read(ctx, "listing calls", func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, query, arguments)
		if err != nil {
			return err
		}
		entries, err = pgx.AppendRows(entries, rows, func(row pgx.CollectableRow) (callstore.Entry, error) { return scan(row, false) })
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return entries, err
}
