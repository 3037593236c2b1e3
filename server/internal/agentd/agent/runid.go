package agent

import (
	"crypto/rand"
	"regexp"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// The id of a run begins with its tenant and a slash, except in the default tenant: `red/run-1`, or
// `run-1`. So the tenants share one journal, and each of them can choose any id. If ids were
// without the tenant, a conflict would tell one tenant which ids another one has.

// InTenant returns the id of a run as a caller of a tenant means it: a caller may leave its tenant
// out. A caller of another tenant names a run of the default tenant with the prefix `default/`.
func InTenant(tenant, id string) string {
	if bare, ok := strings.CutPrefix(id, identity.DefaultTenant+"/"); ok && IsRunID(bare) {
		return bare
	}
	if tenant == identity.DefaultTenant || strings.Contains(id, "/") {
		return id
	}
	return tenant + "/" + id
}

// ForTenant returns the id by which a caller of a tenant names a run: what InTenant takes.
func ForTenant(tenant, id string) string {
	if tenant == identity.DefaultTenant || strings.Contains(id, "/") {
		return id
	}
	return identity.DefaultTenant + "/" + id
}

// TenantOf returns the tenant of a run. It does not check that the run exists.
func TenantOf(runID string) string {
	if tenant, _, ok := strings.Cut(runID, "/"); ok {
		return tenant
	}
	return identity.DefaultTenant
}

// checkRunID returns an error if a new run of a tenant cannot have an id.
func checkRunID(tenant, id string) error {
	bare, qualified := strings.CutPrefix(id, tenant+"/")
	switch {
	case !IsRunID(bare), qualified == (tenant == identity.DefaultTenant):
		return tool.Errorf(tool.KindInvalidArgument, "the run id %q is ill-formed; use 1 to 64 of A-Z a-z 0-9 _ -", loop.Clip(bare))
	case len(id) > loop.MaxRunID:
		return tool.Errorf(tool.KindInvalidArgument, "the run id %q is too long for the tenant %s; use at most %d characters", bare, tenant, loop.MaxRunID-len(tenant)-1)
	}
	return nil
}

var runIDPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// NewRunID returns a new, unique id for a run.
func NewRunID() string { return "run-" + strings.ToLower(rand.Text()[:16]) }

// IsRunID reports whether id is a valid id for a run. A valid id is safe as a file name.
func IsRunID(id string) bool { return runIDPattern.MatchString(id) }
