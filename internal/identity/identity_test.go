package identity_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/identity"
)

func TestKeysAreUnique(t *testing.T) {
	seen := map[string]identity.Principal{}
	for _, p := range []identity.Principal{
		{Tenant: "default", Name: "uid:1000"}, {Tenant: "default", Name: "red/ada"}, {Tenant: "red", Name: "ada"},
		{Tenant: "red", Name: "uid:1000"}, {Tenant: "default", Name: "default/ada"}, {Tenant: "default", Name: "ada"},
		{Tenant: "red", Name: "default/ada"}, {Tenant: "default", Name: "/"}, {Tenant: "default", Name: "//"},
	} {
		key := p.Key()
		if other, found := seen[key]; found {
			t.Errorf("%+v and %+v have the key %q", p, other, key)
		}
		seen[key] = p
		if tenant, name := identity.SplitKey(key); tenant != p.Tenant || name != p.Name {
			t.Errorf("the key %q of %+v has tenant %q and name %q", key, p, tenant, name)
		}
	}
	if key := (identity.Principal{Tenant: "default", Name: "uid:1000"}).Key(); key != "uid:1000" {
		t.Errorf("the key of a local user is %q", key)
	}
}

func TestNames(t *testing.T) {
	for _, name := range []string{"a", "red", "0-9", strings.Repeat("a", 63)} {
		if err := identity.CheckTenant(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "all", "-a", "Red", "a/b", "a.b", "..", "ä", strings.Repeat("a", 64), "a\x00"} {
		if identity.CheckTenant(name) == nil {
			t.Errorf("%q is a tenant", name)
		}
	}
	for _, name := range []string{"uid:0", "uri:spiffe://a/b", "ada@example.org", strings.Repeat("a", 128)} {
		if err := identity.CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "a b", "a\n", "a\x7f", "ä", strings.Repeat("a", 129)} {
		if identity.CheckName(name) == nil {
			t.Errorf("%q is a name", name)
		}
	}
}

func TestInGroups(t *testing.T) {
	for _, test := range []struct {
		key    string
		groups []string
		keys   []string
		want   bool
	}{
		{"", nil, nil, true},
		{"olga", nil, nil, true},
		{"olga", []string{"dev", "leads"}, []string{"leads"}, true},
		{"olga", []string{"leads"}, []string{"ops", "default/leads"}, true},
		{"red/olga", []string{"leads"}, []string{"ops", "red/leads"}, true},
		{"olga", nil, []string{"leads"}, false},
		{"olga", []string{"lead"}, []string{"leads"}, false},
		{"red/olga", []string{"leads"}, []string{"leads"}, false},
		{"olga", []string{"leads"}, []string{"red/leads"}, false},
		{"olga", []string{"red/leads"}, []string{"red/leads"}, false},
		{"", []string{"leads"}, []string{"leads"}, false},
	} {
		if got := identity.InGroups(test.key, test.groups, test.keys); got != test.want {
			t.Errorf("%q of the groups %q is in %q: %v", test.key, test.groups, test.keys, got)
		}
	}
}
