package cli_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func TestWriteCaller(t *testing.T) {
	for name, test := range map[string]struct {
		caller tool.CallerInfo
		want   string
	}{
		"a token": {
			tool.CallerInfo{
				Principal: "red/ci", Tenant: "red", Groups: []string{"dev", "ops"}, Credential: "token", CredentialID: "k3j9", Address: "192.0.2.1",
				Expires: time.Date(2027, 1, 31, 12, 0, 0, 0, time.Local), ScopeRoles: []string{"caller"}, ScopeTools: []string{"fs_*"},
				Roles: []tool.GrantedRole{{Role: "caller", Tenants: []string{"red"}, Tools: []string{"fs_*", "add"}}, {Role: "operator", Tenants: []string{"red", "blue"}}},
				Rights: []tool.GrantedRight{
					{Right: "tools.list", Tenants: []string{"blue", "red"}}, {Right: "tools.call", Tenants: []string{"red"}}, {Right: "version.read", Tenants: []string{"blue", "red"}},
				},
			},
			`principal:  red/ci
tenant:     red
groups:     dev, ops
credential: a token (k3j9), until 2027-01-31 12:00:00
from:       192.0.2.1
limited to: the roles caller, and the tools fs_*
roles:      caller in the tenant red, for the tools fs_*, add
            operator in the tenants red, blue
rights:     tools.list, version.read in the tenants blue, red
            tools.call in the tenant red
`,
		},
		"no role": {
			tool.CallerInfo{Principal: "anonymous", Tenant: "default", Credential: "none", Address: "127.0.0.1"},
			`principal:  anonymous
tenant:     default
groups:     none
credential: none, the caller is anonymous
from:       127.0.0.1
roles:      none; the operator gives roles under auth.bindings of toolhost.yaml
`,
		},
		"a server that wants to control the terminal": {
			tool.CallerInfo{Principal: "a\nroles:      admin", Tenant: "\x1b[31m", Credential: "peer", Address: "unix", Roles: []tool.GrantedRole{{Role: "x\ny", AllTenants: true}}},
			`principal:  a…
tenant:     \x1b[31m
groups:     none
credential: the user of a unix socket
from:       unix
roles:      x…
rights:     none
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := cli.WriteCaller(cli.Process{Stdout: &out}, cli.Toolhost, test.caller, false); err != nil || out.String() != test.want {
				t.Errorf("%v\n%s\nwant\n%s", err, out.String(), test.want)
			}
		})
	}
	var out bytes.Buffer
	many := tool.CallerInfo{Groups: []string{"g"}, Rights: make([]tool.GrantedRight, 10_000)}
	if err := cli.WriteCaller(cli.Process{Stdout: &out}, cli.Toolhost, many, true); err != nil || out.Len() > 4000 || !strings.Contains(out.String(), `"roles":[]`) {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}
