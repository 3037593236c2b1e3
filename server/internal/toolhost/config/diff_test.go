package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// Elements of a list without names are added and removed as a whole. Those with names are compared
// key by key.
func TestDiffOfLists(t *testing.T) {
	before := parse(t, `
auth:
  principals: [{uid: 7, name: olga}]
  bindings:
    - {role: caller, members_of: [red]}
    - {role: auditor, principals: [ida], tenants: [all]}
policy: {rules: [{name: first, when: "true", then: allow}]}
`)
	after := parse(t, `
auth:
  principals: [{uid: 7, name: olga, groups: [ops]}]
  bindings:
    - {role: caller, members_of: [red]}
    - {role: caller, members_of: [blue], tools: ["fs_*"]}
    - {role: auditor, principals: [ida], tenants: [all]}
policy: {rules: [{name: first, when: "true", then: deny}]}
`)
	want := []yamldoc.Change{
		{Key: "auth.principals", Old: "{uid: 7, name: \"olga\"}"},
		{Key: "auth.principals", New: "{uid: 7, name: \"olga\", groups: [ops]}"},
		{Key: "auth.bindings", New: "{role: caller, members_of: [blue], tools: [fs_*]}"},
		{Key: "policy.rules[first].then", Old: "allow", New: "deny"},
	}
	if diff := cmp.Diff(want, config.Diff(&before, &after)); diff != "" {
		t.Error(diff)
	}
}
