package hostpb

import (
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/rpc/toolpb"
	"github.com/toolhost/toolhost/tool"
)

func fromSandbox(s *tool.Sandbox) *toolhostv1.Sandbox {
	if s == nil {
		return nil
	}
	out := &toolhostv1.Sandbox{
		Mode: valid(s.Mode), Network: s.Network, Workspace: toolpb.FromAccess(s.Workspace), Read: valids(s.Read), Write: valids(s.Write),
	}
	for _, w := range s.Walls {
		out.Layers = append(out.Layers, &toolhostv1.SandboxLayer{
			Name: valid(w.Name), Effective: w.Effective, Mechanism: valid(w.Mechanism), Note: valid(w.Note),
		})
	}
	return out
}

func toSandbox(s *toolhostv1.Sandbox) *tool.Sandbox {
	if s == nil {
		return nil
	}
	out := &tool.Sandbox{
		Mode: s.GetMode(), Network: s.GetNetwork(), Workspace: toolpb.ToAccess(s.GetWorkspace()), Read: s.GetRead(), Write: s.GetWrite(),
	}
	for _, w := range s.GetLayers() {
		out.Walls = append(out.Walls, tool.Wall{
			Name: w.GetName(), Effective: w.GetEffective(), Mechanism: w.GetMechanism(), Note: w.GetNote(),
		})
	}
	return out
}

func fromUngranted(all []tool.Ungranted) []*toolhostv1.Ungranted {
	var out []*toolhostv1.Ungranted
	for _, u := range all {
		out = append(out, &toolhostv1.Ungranted{Request: valid(u.Request), Grant: valid(u.Grant)})
	}
	return out
}

func toUngranted(all []*toolhostv1.Ungranted) []tool.Ungranted {
	var out []tool.Ungranted
	for _, u := range all {
		out = append(out, tool.Ungranted{Request: u.GetRequest(), Grant: u.GetGrant()})
	}
	return out
}

func fromPermissions(p *tool.Permissions) *toolv1.Permissions {
	if p == nil {
		return nil
	}
	return toolpb.FromPermissions(*p)
}

func toPermissions(p *toolv1.Permissions) *tool.Permissions {
	if p == nil {
		return nil
	}
	asked := toolpb.ToPermissions(p)
	return &asked
}
