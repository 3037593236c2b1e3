package launch

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// Places are the files and folders of toolhost itself. Plugins must not see some of them, and must
// not change the others, even if the operator granted a folder around them. All paths are absolute.
type Places struct {
	Workspace string   // of all calls; empty: tenants or sessions have their own
	Hidden    []string // what no plugin may see
	Protected []string // what no plugin may change
	Folders   []string // plugin folders; the targets of their links are protected like them
	Names     []string // names of files that are configuration in any folder
	Writable  []string // what some plugin may change
}

// Sandbox returns what the processes of a plugin may access.
func (g Places) Sandbox(s config.Sandbox) sandbox.Config {
	return sandbox.Config{
		Mode: sandbox.Mode(s.Mode), Network: s.Network, Workspace: g.Workspace, WorkspaceAccess: tool.Access(s.Workspace),
		Read: s.Read, Write: s.Write, Hidden: g.Hidden, Protected: slices.Concat(g.Protected, g.links()), Names: g.Names,
	}
}

// Question returns the access of a process that only describes itself. It has no workspace, because
// the operator has not trusted the executable yet. It has everything else that the plugin may need
// to start. granted says that the operator has trusted what runs, and that it may need the network
// and the paths that it may write.
func (g Places) Question(s config.Sandbox, granted bool) sandbox.Config {
	s.Workspace = string(tool.AccessNone)
	if !granted {
		s.Network = false
		s.Read, s.Write = slices.Concat(s.Read, s.Write), nil
	}
	return g.Sandbox(s)
}

// Check returns an error if a plugin with this configuration could reach toolhost's own files.
func (g Places) Check(c *config.Config) error {
	names := slices.Sorted(maps.Keys(c.ByPlugin))
	// an unknown plugin has the default settings
	for _, name := range append([]string{""}, names...) {
		if err := sandbox.Check(g.Sandbox(c.Plugin(name).Sandbox)); err != nil {
			if name == "" {
				return err
			}
			return fmt.Errorf("plugin.%s.sandbox: %w", name, err)
		}
	}
	return nil
}

// links returns the symbolic links directly in the plugin folders. Their targets run as plugins.
func (g Places) links() []string {
	var links []string
	for _, folder := range g.Folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // no plugin is there
		}
		for _, entry := range entries {
			if entry.Type()&fs.ModeSymlink == 0 {
				continue
			}
			path := filepath.Join(folder, entry.Name())
			if _, err := os.Stat(path); err == nil {
				links = append(links, path)
			}
		}
	}
	return links
}
