package authconfig_test

import (
	"os/user"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
)

// A person with several principals is found where one of them may approve, and not without
// evidence.
func TestSamePerson(t *testing.T) {
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	const issuers = "  issuers: [{issuer: 'https://i.example', audience: [x], name_claim: email}]\n"
	approver := func(names string) string { return "  bindings: [{role: approver, principals: [" + names + "]}]\n" }
	for name, test := range map[string]struct {
		auth   string
		tokens []identity.Principal
		want   string // empty: no warning
	}{
		"a user and an address":       {issuers + approver("'uid:UID', 'ME@x.example'"), nil, `- {uid: UID, name: "ME@x.example"}`},
		"a user and a token":          {approver("'uid:UID'"), []identity.Principal{{Tenant: "red", Name: "ME"}}, `- {uid: UID, name: "ME", tenant: red}`},
		"a certificate and a subject": {approver("'mail:ada@x', 'default/https://i.example#ada'"), nil, `- {issuer: https://i.example, claims: {sub: "ada"}, name: "mail:ada@x"}`},
		"a rule and a token":          {"  principals: [{certificate: 'mail:Ada@x', name: boss}]\n" + approver("boss"), []identity.Principal{{Tenant: "default", Name: "ada"}}, `- {certificate: "mail:Ada@x", name: "ada"}`},
		"by a group of the token":     {"  bindings: [{role: approver, groups: [ops]}, {role: caller, principals: ['mail:ada@x']}]\n", []identity.Principal{{Tenant: "default", Name: "ada", Groups: []string{"ops"}}}, `name: "ada"}`},
		"mapped":                      {"  principals: [{uid: UID, name: ME}]\n" + approver("'uid:UID', ME"), []identity.Principal{{Tenant: "default", Name: "ME"}}, ""},
		"nobody approves":             {"  bindings: [{role: caller, principals: ['uid:UID', 'mail:ME@x']}]\n", nil, ""},
		"two persons":                 {approver("'uid:UID', 'mail:another@x'"), []identity.Principal{{Tenant: "default", Name: "third"}}, ""},
		"names that somebody chose":   {approver("red/ada, blue/ada"), nil, ""},
		"one principal":               {approver("ada"), []identity.Principal{{Tenant: "default", Name: "ada"}, {Tenant: "default", Name: "ada"}}, ""},
		"no bindings":                 {"  issuers: []\n", []identity.Principal{{Tenant: "default", Name: "ME"}}, ""},
	} {
		filled := strings.NewReplacer("UID", me.Uid, "ME", me.Username).Replace
		auth, err := read("auth:\n" + filled(test.auth))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range test.tokens {
			test.tokens[i].Name = filled(test.tokens[i].Name)
		}
		got := authconfig.SamePerson(&auth, test.tokens)
		if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.Contains(got[0], filled(test.want))) {
			t.Errorf("%s: %q, want %s", name, got, filled(test.want))
		}
	}
}
