package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// closeCalls closes the calls that Begins of the same transaction supersede. It locks their rows,
// so that none of them begins meanwhile. A closed call has no arguments, so no check settles it,
// and it is not free. It has another token, so no attempt of before that is repeated finds its row.
// One that is under way at another node may still end.
//
// A call is not closed that has an outcome of its tool, is under way at this node, or has begun
// again after its tool said that it did not happen.
//
// whereClosed lets a Begin succeed if all that it supersedes is closed, or if an earlier attempt of
// it has written its row: a late end may have replaced a closed call since.
const (
	closeCalls = `INSERT INTO toolhost_calls AS c (hash, node, token, begun, state, ended, principal, tenant, session, id, sum, tool, plugin, error)
	SELECT g.hash, @node, g.by || g.token, g.begun, 3, g.begun, g.principal, g.tenant, g.session, g.id, g.sum, g.tool, g.plugin, g.error
	FROM unnest(@closed::bytea[], @closed_by::bytea[], @closed_tokens::bytea[], @closed_beguns::bigint[], @closed_principals::text[], @closed_tenants::text[], @closed_sessions::text[],
		@closed_ids::text[], @closed_sums::bytea[], @closed_tools::text[], @closed_plugins::text[], @closed_errors::bytea[])
		AS g (hash, by, token, begun, principal, tenant, session, id, sum, tool, plugin, error)
	ORDER BY g.hash
	ON CONFLICT (hash) DO UPDATE SET token = excluded.token, arguments = NULL, state = CASE c.state WHEN 5 THEN 3 ELSE c.state END,
		error = CASE c.state WHEN 5 THEN excluded.error ELSE c.error END
	WHERE c.state IN (3, 5) OR c.state = 0 AND c.node <> @node AND c.verdict <> 2
	RETURNING hash`
	whereClosed = `
	WHERE NOT EXISTS (SELECT FROM unnest(@closed::bytea[], @closed_by::bytea[], @closed_tokens::bytea[]) AS x (hash, by, token)
		WHERE x.by = g.hash AND NOT EXISTS (SELECT FROM toolhost_calls s WHERE s.hash = x.hash AND s.token = x.by || x.token))
	OR EXISTS (SELECT FROM toolhost_calls t WHERE t.hash = g.hash AND t.token = g.token)`
)

// queueClosings closes what Begins supersede, and adds what whereClosed needs to their arguments.
// It returns what is closed once the batch has been executed; nil: the Begins supersede nothing.
// The calls that nobody had before count for the quotas with the next count.
func queueClosings(batch *pgx.Batch, ops []*op, arguments pgx.NamedArgs) map[callstore.Hash]bool {
	var hashes, by, tokens, sums, errs [][]byte
	var beguns []int64
	texts := make([][]string, 6)
	for _, o := range ops {
		e := &o.entry
		for i, hash := range o.closes {
			hashes, by, tokens, sums = append(hashes, hash[:]), append(by, o.hash[:]), append(tokens, o.token), append(sums, e.Sum[:])
			errs, beguns = append(errs, callstore.Closing(e.ID).Short), append(beguns, e.Begun.UnixNano())
			for j, text := range []string{e.Principal, identity.TenantOf(e.Principal), e.Session, e.Supersedes[i], e.Tool, e.Plugin} {
				texts[j] = append(texts[j], text)
			}
		}
	}
	if len(hashes) == 0 {
		return nil
	}
	arguments["closed"], arguments["closed_by"], arguments["closed_tokens"], arguments["closed_sums"] = hashes, by, tokens, sums
	arguments["closed_errors"], arguments["closed_beguns"] = errs, beguns
	for j, name := range []string{"principals", "tenants", "sessions", "ids", "tools", "plugins"} {
		arguments["closed_"+name] = texts[j]
	}
	closed := map[callstore.Hash]bool{}
	batch.Queue(closeCalls, arguments).Query(func(rows pgx.Rows) error {
		var hash []byte
		_, err := pgx.ForEachRow(rows, []any{&hash}, func() error { closed[callstore.Hash(hash)] = true; return nil })
		return err
	})
	return closed
}
