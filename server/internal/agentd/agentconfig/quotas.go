package agentconfig

import "github.com/toolhost/toolhost/server/internal/agentd/agent"

// Quotas bounds what the runs of tenants and principals use.
type Quotas struct {
	// The quota of each tenant.
	Tenant Quota `yaml:"tenant"`
	// The quota of each principal.
	Principal Quota `yaml:"principal"`
	// The quotas of single tenants, by name. They replace those of `tenant` key by key.
	Tenants map[string]Quota `yaml:"tenants" hint:"a mapping from names of tenants to their quotas"`
	// The quotas of single principals, by key: NAME in the default tenant, and TENANT/NAME in
	// another one. They replace those of `principal` key by key.
	Principals map[string]Quota `yaml:"principals" hint:"a mapping from keys of principals to their quotas"`
}

// Quota bounds what the runs of one tenant or principal use.
type Quota struct {
	// The most runs at work, without sub-runs and runs that only wait for a person. A run that is
	// started beyond that is refused.
	Runs int `yaml:"runs" min:"1" max:"1000000" unset:"unlimited"`
	// The most runs that may be started in any 60 seconds, without sub-runs.
	StartsPerMinute int `yaml:"starts_per_minute" min:"1" max:"1000000" unset:"unlimited"`
	// The most tokens that models and tools may use per day, in UTC. A run that is at work when they
	// are used up ends before its next model request.
	TokensPerDay int `yaml:"tokens_per_day" min:"1" max:"1000000000000000" unset:"unlimited"`
	// The most that models and tools may cost per day, in UTC, in the currency of the prices.
	CostPerDay float64 `yaml:"cost_per_day" min:"1e-9" max:"1e12" unset:"unlimited"`
	// The most bytes that may be attached to prompts and messages per day, in UTC. The copies that
	// sub-runs get count too. A prompt or a message that would exceed that is refused.
	AttachedPerDay int `yaml:"attached_per_day" min:"1" max:"1000000000000000" unset:"unlimited"`
}

// Agent returns the quotas in the form of the agent.
func (q *Quotas) Agent() agent.Quotas {
	all := func(of map[string]Quota) map[string]agent.Quota {
		quotas := make(map[string]agent.Quota, len(of))
		for name, quota := range of {
			quotas[name] = quota.agent()
		}
		return quotas
	}
	return agent.Quotas{Tenant: q.Tenant.agent(), Principal: q.Principal.agent(), Tenants: all(q.Tenants), Principals: all(q.Principals)}
}

func (q Quota) agent() agent.Quota {
	return agent.Quota{Runs: q.Runs, StartsPerMinute: q.StartsPerMinute, TokensPerDay: int64(q.TokensPerDay), CostPerDay: q.CostPerDay, AttachedPerDay: int64(q.AttachedPerDay)}
}
