package catalog

import (
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/internal/plugin/manifest"
	"github.com/toolhost/toolhost/tool"
)

// Variables returns the names of toolhost's variables that the plugin's manifest asks for.
func (p *Plugin) Variables() []string {
	if p.Manifest == nil {
		return nil
	}
	return slices.Clone(p.Manifest.Env.Pass)
}

// Permissions returns the permissions that the plugin asks for, in its manifest and its
// description. Paths that are not absolute are ignored.
func (p *Plugin) Permissions() tool.Permissions {
	asked := p.Info.Permissions
	asked.Read, asked.Write = slices.Clone(asked.Read), slices.Clone(asked.Write)
	if p.Manifest != nil {
		m := p.Manifest.Permissions
		asked.Network = asked.Network || m.Network
		asked.Read, asked.Write = append(asked.Read, m.Read...), append(asked.Write, m.Write...)
		if asked.Workspace != tool.AccessWrite && m.Workspace != "" && m.Workspace != manifest.AccessNone {
			asked.Workspace = tool.Access(m.Workspace)
		}
	}
	asked.Read, asked.Write = absolute(asked.Read), absolute(asked.Write)
	return asked
}

func absolute(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}
