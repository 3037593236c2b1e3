package policy_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// TestForesee checks that a verdict that does not depend on the arguments is known in advance, and
// no other.
func TestForesee(t *testing.T) {
	rules, err := policy.Compile([]policy.Rule{
		{Name: "guests", When: `principal == "guest"`, Then: policy.Deny},
		{Name: "paths", When: `tool.name == "write" && arguments.path.startsWith("/etc/")`, Then: policy.Deny},
		{Name: "asked", When: `tool.name == "ask" || has(arguments.sure)`, Then: policy.RequireApproval},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		rules     *policy.Policy
		principal string
		spec      tool.Spec
		want      policy.Verdict // empty: it depends on the arguments
	}{
		{rules, "guest", tool.Spec{Name: "write"}, policy.Deny},
		{rules, "ada", tool.Spec{Name: "write"}, ""},
		{rules, "ada", tool.Spec{Name: "ask"}, policy.RequireApproval},
		{rules, "ada", tool.Spec{Name: "other"}, ""},
		{nil, "guest", tool.Spec{Name: "write"}, policy.Allow},
		{nil, "guest", tool.Spec{Name: "write", Dangerous: true}, policy.RequireApproval},
		{&policy.Policy{}, "guest", tool.Spec{Name: "write"}, policy.Allow},
	} {
		got, known := tt.rules.Foresee(t.Context(), policy.Input{Principal: tt.principal, Tool: &tt.spec, Arguments: []byte(`{"sure":1}`)})
		if got != tt.want || known != (tt.want != "") {
			t.Errorf("%s by %s: %q, %v; want %q", tt.spec.Name, tt.principal, got, known, tt.want)
		}
	}
}
