package callstore

import (
	"context"
	"database/sql"

	"github.com/toolhost/toolhost/internal/identity"
)

// Quota bounds the ids of one tenant and of one principal. 0 is no bound.
type Quota struct{ OfTenant, OfPrincipal int }

// Holdings has the number of ids of each tenant and each principal, for the stores. It is not safe
// for concurrent use.
type Holdings struct{ tenants, principals map[string]int }

// NewHoldings returns holdings without ids.
func NewHoldings() Holdings { return Holdings{map[string]int{}, map[string]int{}} }

// loadHoldings counts the ids in the file.
func loadHoldings(ctx context.Context, db *sql.DB) (Holdings, error) {
	h := NewHoldings()
	rows, err := db.QueryContext(ctx, "SELECT principal, count(*) FROM calls GROUP BY principal")
	if err != nil {
		return h, err
	}
	defer rows.Close()
	for rows.Next() {
		var principal string
		var ids int
		if err := rows.Scan(&principal, &ids); err != nil {
			return h, err
		}
		h.Add(principal, ids)
	}
	return h, rows.Err()
}

// Add changes the number of ids of a principal and its tenant.
func (h Holdings) Add(principal string, ids int) {
	adjust(h.tenants, identity.TenantOf(principal), ids)
	adjust(h.principals, principal, ids)
}

func adjust(totals map[string]int, name string, ids int) {
	if totals[name] += ids; totals[name] == 0 {
		delete(totals, name)
	}
}

// Adopt adds the changes of a transaction.
func (h Holdings) Adopt(changes Holdings) {
	for principal, ids := range changes.principals {
		h.Add(principal, ids)
	}
}

// Full returns whose quota so many more ids of a principal would exceed, and how many ids that
// owner has; "": none. changes are those of the present transaction.
func (h Holdings) Full(principal string, more int, q Quota, changes Holdings) (owner string, ids int) {
	tenant := identity.TenantOf(principal)
	if ids = h.principals[principal] + changes.principals[principal]; q.OfPrincipal > 0 && ids+more > q.OfPrincipal {
		return "the principal " + principal, ids
	}
	if ids = h.tenants[tenant] + changes.tenants[tenant]; q.OfTenant > 0 && ids+more > q.OfTenant {
		return "the tenant " + tenant, ids
	}
	return "", 0
}
