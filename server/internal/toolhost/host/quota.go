package host

import (
	"context"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// count counts a call that begins for the quotas of its tenant and principal, or returns the error
// of a full quota. It may wait for what counts the starts of all toolhosts.
func (c *call) count(ctx context.Context) error {
	if c.settings.Quotas == nil {
		return nil
	}
	if full := c.services.limits.usage.Begin(ctx, c.settings.Quotas, c.request.Principal); full != nil {
		full.CallID = c.request.ID
		return full
	}
	c.counted = true
	return nil
}

// uncount ends what count began. The call must have ended. Only the goroutine that concluded the
// call calls it.
func (c *call) uncount() {
	if c.counted {
		c.counted = false
		c.services.limits.usage.End(c.request.Principal)
	}
}

// resultQuota returns how many bytes of results the ledger may keep in memory for a tenant; 0: no
// bound.
func (h *Host) resultQuota(tenant string) int64 {
	if q := h.generations.latest().Quotas; q != nil {
		return q.OfTenant(tenant).ResultBytes
	}
	return 0
}

// artifactQuota implements artifact.Quota.
func (h *Host) artifactQuota(principal string) (ofTenant, ofPrincipal int64) {
	q := h.generations.latest().Quotas
	if q == nil {
		return 0, 0
	}
	return q.OfTenant(identity.TenantOf(principal)).ArtifactBytes, q.OfPrincipal(principal).ArtifactBytes
}

// idQuota returns how many ids the ledger on disk may have of the call's tenant and principal.
func idQuota(c *call) callstore.Quota {
	q := c.settings.Quotas
	if q == nil {
		return callstore.Quota{}
	}
	return callstore.Quota{
		OfTenant: q.OfTenant(identity.TenantOf(c.request.Principal)).CallIDs, OfPrincipal: q.OfPrincipal(c.request.Principal).CallIDs,
	}
}
