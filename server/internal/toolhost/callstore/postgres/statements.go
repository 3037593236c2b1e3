package postgres

import (
	"bytes"

	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

const endCalls = `WITH given AS (
	SELECT * FROM unnest(@hashes::bytea[], @numbers::bigint[], @tokens::bytea[], @states::smallint[], @endeds::bigint[], @plugins::text[], @instances::text[], @errors::bytea[], @unknowns::boolean[], @data::bytea[])
		AS g (hash, number, token, state, ended, plugin, instance, error, unknown, data)),
ended AS (
	UPDATE toolhost_calls c SET state = g.state, ended = g.ended, plugin = CASE g.plugin WHEN '' THEN c.plugin ELSE g.plugin END, instance = g.instance, error = g.error,
		token = g.token, arguments = CASE WHEN g.unknown THEN c.arguments END
	FROM given g WHERE c.hash = g.hash AND c.node = @node AND (c.state = 0 AND c.number = g.number OR c.token = g.token)
	RETURNING c.hash, c.number, c.tenant),
kept AS (
	INSERT INTO toolhost_outcomes (number, tenant, ended, data)
	SELECT e.number, e.tenant, g.ended, g.data FROM ended e JOIN given g USING (hash) WHERE g.data IS NOT NULL ORDER BY g.ended
	ON CONFLICT (number) DO NOTHING)
SELECT hash FROM ended`

func (w *writer) queueEnds(batch *pgx.Batch, ops []*op, after *[]func()) {
	if len(ops) == 0 {
		return
	}
	n := len(ops)
	numbers, states, endeds, unknowns := make([]int64, n), make([]int16, n), make([]int64, n), make([]bool, n)
	plugins, instances, errs, data := make([]string, n), make([]string, n), make([][]byte, n), make([][]byte, n)
	arguments, outcomes := hashes(w.store.arguments(), ops), w.outcomes
	for i, o := range ops {
		e := &o.ending
		if o.number == 0 {
			o.number = w.begun[o.hash].number
		}
		numbers[i] = o.number
		if outcomes+int64(len(e.Data)) > w.store.cfg.MaxBytes {
			e.Data = nil // there is no room before the next eviction
		}
		outcomes += int64(len(e.Data))
		states[i], endeds[i], plugins[i], instances[i], errs[i], unknowns[i], data[i] = int16(e.Stands), o.ended.UnixNano(), e.Plugin, e.Instance, e.Short, e.Unknown, e.Data
	}
	arguments["numbers"], arguments["states"], arguments["endeds"], arguments["plugins"], arguments["instances"] = numbers, states, endeds, plugins, instances
	arguments["errors"], arguments["unknowns"], arguments["data"] = errs, unknowns, data
	found := map[callstore.Hash]bool{}
	batch.Queue(endCalls, arguments).Query(func(rows pgx.Rows) error {
		var hash []byte
		_, err := pgx.ForEachRow(rows, []any{&hash}, func() error { found[callstore.Hash(hash)] = true; return nil })
		return err
	})
	*after = append(*after, func() {
		for _, o := range ops {
			w.over(o)
			if found[o.hash] {
				w.unsynced = append(w.unsynced, o)
				w.outcomes += int64(len(o.ending.Data)) // too much, if an attempt whose answer was lost has written it
			} else {
				o.refused = callstore.ErrNotBegun
			}
		}
	})
}

// hashes adds the hashes and tokens of operations to arguments.
func hashes(arguments pgx.NamedArgs, ops []*op) pgx.NamedArgs {
	hashes, tokens := make([][]byte, len(ops)), make([][]byte, len(ops))
	for i, o := range ops {
		hashes[i], tokens[i] = o.hash[:], o.token
	}
	arguments["hashes"], arguments["tokens"] = hashes, tokens
	return arguments
}

// over notes that a call has an end, or is forgotten, or that the store has another call by now.
func (w *writer) over(o *op) {
	if is := w.begun[o.hash]; o.number == is.number || bytes.Equal(o.begin, is.token) {
		delete(w.begun, o.hash)
	}
}

// forgetCalls removes calls as this node has begun them. One that another call supersedes has
// another token, and stays: its id must never be free.
const forgetCalls = `DELETE FROM toolhost_calls c USING unnest(@hashes::bytea[], @begins::bytea[]) AS g (hash, token)
	WHERE c.hash = g.hash AND c.token = g.token AND c.node = @node AND c.state = 0 RETURNING c.principal`

func (w *writer) queueForgets(batch *pgx.Batch, ops []*op, after *[]func()) {
	if len(ops) == 0 {
		return
	}
	arguments, begins := hashes(w.store.arguments(), ops), make([][]byte, len(ops))
	for i, o := range ops {
		if o.begin == nil {
			o.begin = w.begun[o.hash].token
		}
		begins[i] = o.begin
	}
	arguments["begins"] = begins
	var gone []string // principals
	batch.Queue(forgetCalls, arguments).Query(func(rows pgx.Rows) (err error) {
		gone, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	left := map[callstore.Hash]bool{}
	batch.Queue("SELECT hash FROM toolhost_calls WHERE hash = ANY(@hashes)", arguments).Query(func(rows pgx.Rows) error {
		var hash []byte
		_, err := pgx.ForEachRow(rows, []any{&hash}, func() error { left[callstore.Hash(hash)] = true; return nil })
		return err
	})
	*after = append(*after, func() {
		for _, principal := range gone {
			w.own(principal, -1)
		}
		for _, o := range ops {
			w.over(o)
			if left[o.hash] {
				o.refused = callstore.ErrNotBegun
			} else {
				w.unsynced = append(w.unsynced, o)
			}
		}
	})
}

// beginCalls inserts the calls whose keys are free. The ledger must have the id that this node
// knows: otherwise it has lost calls, see renew. The row of the node is locked, so that no session
// declares the node gone meanwhile. A key is taken over if its call is free and the same, or if an
// earlier attempt, whose answer was lost, has written the row. In the latter case, the statement
// writes the row again, so that its commit waits until the row is durable.
const beginCalls = `WITH named AS (
	SELECT FROM toolhost_ledger WHERE @ledger = id OR @ledger = ANY(former)),
alive AS (
	SELECT node FROM toolhost_nodes WHERE node = @node AND gone IS NULL AND EXISTS (SELECT FROM named) FOR SHARE),
begun AS (
	INSERT INTO toolhost_calls (hash, node, token, begun, state, principal, tenant, session, id, sum, tool, plugin, arguments, effect_key, seals)
	SELECT g.hash, alive.node, g.token, g.begun, 0, g.principal, g.tenant, g.session, g.id, g.sum, g.tool, g.plugin, g.arguments, g.effect_key, g.seals
	FROM alive, unnest(@hashes::bytea[], @tokens::bytea[], @beguns::bigint[], @principals::text[], @tenants::text[], @sessions::text[], @ids::text[], @sums::bytea[], @tools::text[], @plugins::text[], @arguments::bytea[], @effect_keys::text[], @seals::boolean[])
		AS g (hash, token, begun, principal, tenant, session, id, sum, tool, plugin, arguments, effect_key, seals)
	ORDER BY g.hash
	ON CONFLICT (hash) DO UPDATE SET number = excluded.number, node = excluded.node, token = excluded.token, begun = excluded.begun, state = 0, ended = NULL,
		tool = excluded.tool, plugin = excluded.plugin, instance = '', error = NULL, arguments = excluded.arguments, effect_key = excluded.effect_key, seals = excluded.seals
	WHERE toolhost_calls.state = 5 AND toolhost_calls.sum = excluded.sum OR toolhost_calls.token = excluded.token
	RETURNING hash, number, principal, verdict),
beat AS (
	UPDATE toolhost_beats SET count = count + 1, newest = greatest(newest, (SELECT max(number) FROM begun)) WHERE node = @node)
SELECT EXISTS (SELECT FROM named), EXISTS (SELECT FROM alive), hash, number, principal, verdict FROM (SELECT) one LEFT JOIN begun ON true`

// queueBegins queues the statement that begins the calls, or those of a beat if ops is empty. After
// the batch has been executed, the returned map has the numbers of the calls that have begun.
func (w *writer) queueBegins(batch *pgx.Batch, ops []*op, after *[]func()) map[callstore.Hash]int64 {
	if len(ops) == 0 {
		batch.Queue("UPDATE toolhost_beats SET count = count + 1 WHERE node = $1", w.store.node)
		// A node that was gone for long has no row.
		const query = "SELECT @ledger = id OR @ledger = ANY(former), EXISTS (SELECT FROM toolhost_nodes WHERE node = @node AND gone IS NULL) FROM toolhost_ledger"
		batch.Queue(query, w.store.arguments()).QueryRow(func(row pgx.Row) error {
			var named, alive bool
			err := row.Scan(&named, &alive)
			if err == nil {
				_ = w.check(named, alive)
			}
			return err
		})
		return nil
	}
	n := len(ops)
	beguns, texts, sums, values, seals := make([]int64, n), [7][]string{}, make([][]byte, n), make([][]byte, n), make([]bool, n)
	for i, o := range ops {
		e := &o.entry
		o.sent = true
		beguns[i], sums[i] = e.Begun.UnixNano(), e.Sum[:]
		for j, text := range []string{e.Principal, identity.TenantOf(e.Principal), e.Session, e.ID, e.Tool, e.Plugin, e.EffectKey} {
			texts[j] = append(texts[j], text)
		}
		values[i], seals[i] = e.Arguments, e.Seals && e.EffectKey != ""
	}
	arguments := hashes(w.store.arguments(), ops)
	for j, name := range []string{"principals", "tenants", "sessions", "ids", "tools", "plugins", "effect_keys"} {
		arguments[name] = texts[j]
	}
	arguments["beguns"], arguments["sums"], arguments["arguments"], arguments["seals"] = beguns, sums, values, seals
	var named, alive bool
	numbers := map[callstore.Hash]int64{}
	var added []string // principals
	batch.Queue(beginCalls, arguments).Query(func(rows pgx.Rows) error {
		var hash []byte
		var number *int64
		var principal *string
		var verdict *int
		_, err := pgx.ForEachRow(rows, []any{&named, &alive, &hash, &number, &principal, &verdict}, func() error {
			if number != nil {
				numbers[callstore.Hash(hash)] = *number
			}
			if number != nil && *verdict == 0 { // otherwise the call was there, and free
				added = append(added, *principal)
			}
			return nil
		})
		return err
	})
	*after = append(*after, func() {
		ended, newest := w.check(named, alive), int64(0)
		for _, o := range ops {
			number, begins := numbers[o.hash]
			switch {
			case begins:
				newest = max(newest, number)
				w.begun[o.hash] = begun{number, o.token}
				w.argumentBytes += int64(len(o.entry.Arguments))
			case ended != nil:
				o.refused = ended
			default:
				o.refused = callstore.ErrTaken
			}
		}
		for _, principal := range added {
			w.own(principal, 1)
		}
		if newest > 0 {
			w.known[w.store.node] = max(w.known[w.store.node], newest)
			if w.store.cfg.Begun != nil {
				w.store.cfg.Begun(newest)
			}
		}
	})
	return numbers
}
