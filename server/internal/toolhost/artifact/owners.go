package artifact

import "github.com/toolhost/toolhost/internal/identity"

// owners has the number and size of the artifacts of each tenant and principal, also of those that
// are being written. The mutex of the store guards it.
type owners struct {
	tenants, principals map[string]total
}

type total struct {
	bytes int64
	count int
}

func newOwners() owners { return owners{tenants: map[string]total{}, principals: map[string]total{}} }

// add changes the totals of a principal and its tenant.
func (o owners) add(principal string, bytes int64, count int) {
	for _, t := range []struct {
		totals map[string]total
		name   string
	}{{o.tenants, identity.TenantOf(principal)}, {o.principals, principal}} {
		sum := t.totals[t.name]
		sum.bytes, sum.count = sum.bytes+bytes, sum.count+count
		if sum.count == 0 {
			delete(t.totals, t.name)
		} else {
			t.totals[t.name] = sum
		}
	}
}

// largest returns the tenant with the most bytes or the most artifacts. If several have equally
// many, it returns the one whose name is first.
func (o owners) largest(byBytes bool) (tenant string) {
	var most int64 = -1
	for name, t := range o.tenants {
		size := int64(t.count)
		if byBytes {
			size = t.bytes
		}
		if size > most || size == most && name < tenant {
			tenant, most = name, size
		}
	}
	return tenant
}

// boundOf returns the smaller of the quotas of a principal and its tenant, and whose it is; 0:
// there is none.
func (s *Store) boundOf(principal string) (who string, most int64) {
	if s.quota == nil {
		return "", 0
	}
	ofTenant, ofPrincipal := s.quota(principal)
	if ofPrincipal > 0 && (ofTenant == 0 || ofPrincipal < ofTenant) {
		return "the principal " + principal, ofPrincipal
	}
	return "the tenant " + identity.TenantOf(principal), ofTenant
}
