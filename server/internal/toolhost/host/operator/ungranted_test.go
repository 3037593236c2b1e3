package operator

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/tool"
)

func TestUngrantedRequestsComeWithTheirGrants(t *testing.T) {
	exempt := []*catalog.Tool{{Spec: tool.Spec{Name: "plain"}}, {Spec: tool.Spec{Name: "free", SandboxExempt: true}}}
	all := tool.Permissions{Network: true, Workspace: tool.AccessWrite, Read: []string{"/srv/a", "/srv/b/c"}, Write: []string{"/srv/w"}}
	for name, test := range map[string]struct {
		asked   tool.Permissions
		granted tool.Sandbox
		tools   []*catalog.Tool
		want    []tool.Ungranted
	}{
		"nothing is asked": {granted: tool.Sandbox{Mode: "on"}},
		"nothing is granted": {all, tool.Sandbox{Mode: "on", Workspace: tool.AccessNone}, exempt, []tool.Ungranted{
			{Request: "the network", Grant: "plugin.p.sandbox.network: true"},
			{Request: "to write in the workspace", Grant: "plugin.p.sandbox.workspace: write"},
			{Request: "to read /srv/a, /srv/b/c", Grant: "plugin.p.sandbox.read: [/srv/a, /srv/b/c]"},
			{Request: "to change /srv/w", Grant: "plugin.p.sandbox.write: [/srv/w]"},
			{Request: "that its tool free runs without a sandbox, which is granted to the whole plugin", Grant: "plugin.p.sandbox.mode: off"},
		}},
		"some is granted": {all, tool.Sandbox{
			Mode: "required", Network: true, Workspace: tool.AccessRead, Read: []string{"/srv/b"}, Write: []string{"/srv/w/"},
		}, nil, []tool.Ungranted{
			{Request: "to write in the workspace", Grant: "plugin.p.sandbox.workspace: write"},
			{Request: "to read /srv/a", Grant: "plugin.p.sandbox.read: [/srv/b, /srv/a]"},
			{Request: "to change /srv/w", Grant: "plugin.p.sandbox.write: [/srv/w/, /srv/w]"},
		}},
		"what may be changed may be read": {tool.Permissions{Read: []string{"/srv/a"}}, tool.Sandbox{Mode: "on", Write: []string{"/srv"}}, nil, nil},
		"there is no sandbox":             {all, tool.Sandbox{Mode: "off"}, exempt, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := &catalog.Plugin{Info: tool.Description{Name: "p"}, Tools: test.tools}
			if diff := cmp.Diff(test.want, Ungranted(p, test.asked, test.granted, nil)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
