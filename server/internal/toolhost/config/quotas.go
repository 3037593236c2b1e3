package config

import "github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"

// Quotas bounds what tenants and principals use. A full quota refuses only calls of its own tenant
// or principal, with an error of kind rate_limited that names the quota and says when to try again.
type Quotas struct {
	// The quota of each tenant that `tenants` does not name.
	Tenant TenantQuota `yaml:"tenant"`
	// The quota of each principal that `principals` does not name.
	Principal PrincipalQuota `yaml:"principal"`
	// The quotas of single tenants, by name. They replace those of `tenant` key by key.
	Tenants map[string]TenantQuota `yaml:"tenants" keys:"tenant_name" hint:"a mapping from names of tenants to their quotas"`
	// The quotas of single principals, by key: NAME in the default tenant, and TENANT/NAME in
	// another one. They replace those of `principal` key by key.
	Principals map[string]PrincipalQuota `yaml:"principals" keys:"principal" hint:"a mapping from keys of principals to their quotas"`
}

// TenantQuota bounds what one tenant uses. A nil field is not set.
type TenantQuota struct {
	// The most calls in progress, also those that wait.
	ConcurrentCalls *int `yaml:"concurrent_calls" zero:"unlimited" min:"1" max:"1000000" unset:"unlimited"`
	// The most calls that may begin in any 60 seconds. A repeated call id counts too. Toolhosts
	// that share a ledger count together.
	StartsPerMinute *int `yaml:"starts_per_minute" zero:"unlimited" min:"1" max:"1000000" unset:"unlimited"`
	// The most processes that may start for the tenant in any 60 seconds.
	LaunchesPerMinute *int `yaml:"launches_per_minute" zero:"unlimited" min:"1" max:"1000000" unset:"unlimited"`
	// The most processes of plugins at the same time. At this number, toolhost stops idle processes
	// of the tenant to start others. If none becomes idle for five seconds, it refuses the call.
	Processes *int `yaml:"processes" zero:"unlimited" min:"1" max:"100000" unset:"unlimited"`
	// The most memory of these processes together. Beyond it, toolhost starts a process only after it
	// has stopped idle ones. It measures the memory when a process starts, and a process may grow
	// later. The kernel kills a single process that exceeds it.
	Memory *Size `yaml:"memory" zero:"unlimited" min:"16MiB" max:"1024TiB" unset:"unlimited"`
	// The most ids on disk, of calls with side effects. At this number, toolhost refuses further
	// calls with side effects until an id expires.
	CallIDs *int `yaml:"call_ids" zero:"unlimited" min:"1" max:"100000000" unset:"unlimited"`
	// The most bytes of artifacts. Beyond that, toolhost removes the oldest artifacts of the tenant.
	ArtifactBytes *Size `yaml:"artifact_bytes" zero:"unlimited" min:"1KiB" max:"1TiB" unset:"unlimited"`
	// The most bytes of the outcomes of calls that have ended and that toolhost keeps in memory, to
	// answer a repeated call id. Beyond that, toolhost forgets the oldest ones of the tenant.
	ResultBytes *Size `yaml:"result_bytes" zero:"unlimited" min:"1KiB" max:"1TiB" unset:"unlimited"`
}

// PrincipalQuota bounds what one principal uses. A nil field is not set. There is no quota of
// launches, because the calls of all principals of a tenant share processes.
type PrincipalQuota struct {
	// The most calls in progress, also those that wait.
	ConcurrentCalls *int `yaml:"concurrent_calls" zero:"unlimited" min:"1" max:"1000000" unset:"unlimited"`
	// The most calls that may begin in any 60 seconds. A repeated call id counts too. Toolhosts
	// that share a ledger count together.
	StartsPerMinute *int `yaml:"starts_per_minute" zero:"unlimited" min:"1" max:"1000000" unset:"unlimited"`
	// The most processes of plugins at the same time that serve only this principal. These are the
	// processes of plugins with isolation `principal` or `session`. toolhost makes room as for a
	// tenant.
	Processes *int `yaml:"processes" zero:"unlimited" min:"1" max:"100000" unset:"unlimited"`
	// The most memory of these processes together, as for a tenant.
	Memory *Size `yaml:"memory" zero:"unlimited" min:"16MiB" max:"1024TiB" unset:"unlimited"`
	// The most ids on disk, of calls with side effects. At this number, toolhost refuses further
	// calls with side effects until an id expires.
	CallIDs *int `yaml:"call_ids" zero:"unlimited" min:"1" max:"100000000" unset:"unlimited"`
	// The most bytes of artifacts. Beyond that, toolhost removes the oldest artifacts of the
	// principal.
	ArtifactBytes *Size `yaml:"artifact_bytes" zero:"unlimited" min:"1KiB" max:"1TiB" unset:"unlimited"`
}

// Limits returns the quotas in the form of the host, or nil if no quota is set.
func (q *Quotas) Limits() *throttle.Quotas {
	if q.Tenant == (TenantQuota{}) && q.Principal == (PrincipalQuota{}) && len(q.Tenants) == 0 && len(q.Principals) == 0 {
		return nil
	}
	limits := &throttle.Quotas{
		Tenant: q.Tenant.limit(TenantQuota{}), Principal: q.Principal.limit(PrincipalQuota{}),
		Tenants: map[string]throttle.Quota{}, Principals: map[string]throttle.Quota{},
	}
	for name, own := range q.Tenants {
		limits.Tenants[name] = own.limit(q.Tenant)
	}
	for key, own := range q.Principals {
		limits.Principals[key] = own.limit(q.Principal)
	}
	return limits
}

// limit returns the quota in the form of the host. A field that is not set has the value in
// general.
func (q TenantQuota) limit(general TenantQuota) throttle.Quota {
	return throttle.Quota{
		ConcurrentCalls:   valueOf(q.ConcurrentCalls, general.ConcurrentCalls),
		StartsPerMinute:   valueOf(q.StartsPerMinute, general.StartsPerMinute),
		LaunchesPerMinute: valueOf(q.LaunchesPerMinute, general.LaunchesPerMinute),
		Processes:         valueOf(q.Processes, general.Processes),
		MemoryBytes:       int64(valueOf(q.Memory, general.Memory)),
		CallIDs:           valueOf(q.CallIDs, general.CallIDs),
		ArtifactBytes:     int64(valueOf(q.ArtifactBytes, general.ArtifactBytes)),
		ResultBytes:       int64(valueOf(q.ResultBytes, general.ResultBytes)),
	}
}

// limit is the same as TenantQuota.limit.
func (q PrincipalQuota) limit(general PrincipalQuota) throttle.Quota {
	return throttle.Quota{
		ConcurrentCalls: valueOf(q.ConcurrentCalls, general.ConcurrentCalls),
		StartsPerMinute: valueOf(q.StartsPerMinute, general.StartsPerMinute),
		Processes:       valueOf(q.Processes, general.Processes),
		MemoryBytes:     int64(valueOf(q.Memory, general.Memory)),
		CallIDs:         valueOf(q.CallIDs, general.CallIDs),
		ArtifactBytes:   int64(valueOf(q.ArtifactBytes, general.ArtifactBytes)),
	}
}

// MemoryOf returns the quota of the memory of a process that serves the calls of a tenant, and of
// one principal unless the key is empty; 0: there is none.
func (q *Quotas) MemoryOf(tenant, principal string) Size {
	most := valueOf(q.Tenants[tenant].Memory, q.Tenant.Memory)
	if principal == "" {
		return most
	}
	ofPrincipal := valueOf(q.Principals[principal].Memory, q.Principal.Memory)
	if most == 0 || ofPrincipal > 0 && ofPrincipal < most {
		return ofPrincipal
	}
	return most
}

func valueOf[T int | Size](own, general *T) T {
	switch {
	case own != nil:
		return *own
	case general != nil:
		return *general
	}
	return 0
}
