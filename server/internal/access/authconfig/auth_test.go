package authconfig_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// file is a configuration file with the section.
type file struct {
	Auth authconfig.Auth `yaml:"auth"`
}

func read(text string) (authconfig.Auth, error) {
	var f file
	d := yamldoc.NewDecoder("/x/file.yaml")
	d.MaxBytes = yamldoc.MaxConfigBytes
	d.Decode([]byte(text), reflect.ValueOf(&f).Elem())
	authconfig.Check(d, "auth", &f.Auth)
	if len(d.Errs) > 0 {
		return f.Auth, d.Errs
	}
	return f.Auth, nil
}

func TestPolicy(t *testing.T) {
	auth, err := read("auth:\n  bindings:\n    - {role: caller, members_of: [red], tools: [fs_*]}\n")
	if err != nil {
		t.Fatal(err)
	}
	ada := identity.Principal{Tenant: "red", Name: "ada"}
	if d := authz.New(auth.Grants()).Decide(ada, authz.Request{Right: authz.ToolsCall, Tool: "fs_read"}); !d.Allowed {
		t.Error(d.Reason)
	}
	if d := authz.New(auth.Grants()).Decide(ada, authz.Request{Right: authz.ToolsCall, Tool: "shell"}); d.Allowed {
		t.Error(d.Reason)
	}
	if none, err := read("auth: {}\n"); err != nil || len(none.Grants()) != 0 {
		t.Errorf("without a binding: %v, %v", none.Grants(), err)
	}
}

// A binding that would give nothing, or something else than its author meant, is an error with a
// place.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{role: king, principals: [ada]}":                        "king",
		"{role: caller}":                                         "members_of",
		"{role: caller, principals: ['']}":                       "name",
		"{role: caller, groups: ['a b']}":                        "name",
		"{role: caller, principals: [Red/ada]}":                  "tenant",
		"{role: caller, members_of: [all]}":                      "every tenant",
		"{role: caller, principals: [ada], tools: ['[']}":        "pattern",
		"{role: caller, principals: [ada], tenants: [all, Red]}": "tenant",
	} {
		_, err := read("auth:\n  bindings:\n    - " + text + "\n")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "file.yaml:3:") {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}

func TestCredentialErrors(t *testing.T) {
	const issuers = "auth:\n  issuers:\n    - {issuer: https://a.example.org, audience: [toolhost]}\n"
	for text, want := range map[string]string{
		"auth:\n  issuers:\n    - {issuer: http://a.example.org, audience: [x]}":                                "not a URL such as https://",
		"auth:\n  issuers:\n    - {issuer: https://a.example.org}":                                              "audience",
		"auth:\n  issuers:\n    - {issuer: https://a.example.org, audience: [x], tenant: red, tenant_claim: y}": "both tenant and tenant_claim",
		"auth:\n  issuers:\n    - {issuer: https://a.example.org, audience: [x], clock_skew: 1h}":               "clock_skew",
		issuers + "    - {issuer: https://a.example.org, audience: [x]}":                                        "twice",
		"auth:\n  principals:\n    - {name: ada}":                                                               "exactly one of",
		"auth:\n  principals:\n    - {uid: 0, user: root, name: ada}":                                           "exactly one of",
		"auth:\n  principals:\n    - {user: ada, certificate: dns:a, name: ada}":                                "exactly one of",
		"auth:\n  principals:\n    - {uid: 0}":                                                                  "no effect",
		"auth:\n  principals:\n    - {uid: -1, name: ada}":                                                      "uid",
		"auth:\n  principals:\n    - {certificate: ada, name: ada}":                                             "not a name in a certificate",
		"auth:\n  principals:\n    - {uid: 0, tenant: Red}":                                                     "tenant",
		"auth:\n  principals:\n    - {issuer: https://b.example.org, name: ci}":                                 "does not have this issuer",
		"auth:\n  principals:\n    - {jwt: {claims: {sub: x}}, name: ci}":                                       "issuer",
		issuers + "  principals:\n    - {issuer: https://a.example.org, claims: {sub: '['}, name: ci}":          "pattern",
	} {
		_, err := read(text + "\n")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "file.yaml:") {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}

func TestRules(t *testing.T) {
	auth, err := read("auth:\n  principals:\n    - {user: root, name: boss, tenant: ops}\n    - {uid: 7, groups: [dev]}\n")
	if err != nil {
		t.Fatal(err)
	}
	rules, err := auth.Rules()
	if err != nil || len(rules) != 2 || *rules[0].UID != 0 || rules[0].Name != "boss" || *rules[1].UID != 7 {
		t.Errorf("%+v, %v", rules, err)
	}
	auth.Principals[0].User = "no-such-user-here"
	if _, err := auth.Rules(); err == nil || !strings.Contains(err.Error(), "auth.principals[0].user") {
		t.Errorf("an unknown user: %v", err)
	}
}
