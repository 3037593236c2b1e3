package policy_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
)

// TestReads checks that each way to read a key of the context is recognized, and that a rule that
// may read any key reads all.
func TestReads(t *testing.T) {
	const other = "some_other_key"
	for when, want := range map[string]struct{ role, all bool }{
		`tool.name == "x"`:                                          {},
		`context.role == "admin"`:                                   {role: true},
		`.context.role == "admin"`:                                  {role: true},
		`has(context.role)`:                                         {role: true},
		`has(context.role.name) && context.role.name == "a"`:        {role: true},
		`context["role"] == "admin"`:                                {role: true},
		`"role" in context`:                                         {role: true},
		`context.team == "a" || (arguments.n == 1 && context.role)`: {role: true},
		`arguments.list.exists(x, x == context.role)`:               {role: true},
		`{"a": [context.role]}.a[0] == 1`:                           {role: true},
		`context[arguments.key] == "admin"`:                         {all: true},
		`context["ro" + "le"] == "admin"`:                           {all: true},
		`arguments.key in context`:                                  {all: true},
		`context.exists(k, k == "role")`:                            {all: true},
		`[context].exists(c, c.role == "admin")`:                    {all: true},
		`(session == "a" ? context : {"role": 1}).role == "admin"`:  {all: true},
		`context == {"role": "admin"}`:                              {all: true},
		`size(context) > 3`:                                         {all: true},
		`context.map(k, context[k]).exists(v, v == "admin")`:        {all: true},
		// Its own variable; this counts as a read.
		`arguments.a.exists(context, context.role == "admin")`:     {role: true},
		`context.user.role == "admin" && context.role.size() == 1`: {role: true},
		`tool.tags.exists(t, t in context.role)`:                   {role: true},
	} {
		p, err := policy.Compile([]policy.Rule{{Name: "free", When: `session == "s"`, Then: policy.Allow}, {Name: "rule", When: when, Then: policy.Allow}})
		if err != nil {
			t.Errorf("%s: %v", when, err)
			continue
		}
		if got := p.Reads("role"); got != (want.role || want.all) {
			t.Errorf("%s reads role: %v", when, got)
		}
		if got := p.Reads(other); got != want.all {
			t.Errorf("%s reads any key: %v", when, got)
		}
	}
	if (*policy.Policy)(nil).Reads("role") {
		t.Error("no policy reads a key")
	}
}
