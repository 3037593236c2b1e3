package sandbox

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// Mode says which layers a process gets.
type Mode string

// The modes. The zero value is ModeOff.
const (
	ModeOff      Mode = "off"      // no layers
	ModeOn       Mode = "on"       // the layers that this machine gives
	ModeRequired Mode = "required" // all layers, or the process is not started
	ModeAuto     Mode = "auto"     // ModeRequired for each layer that a process of the same Machine has had, else ModeOn
)

// Config says what one process may access besides the system's libraries. All paths are absolute.
// The zero value is no sandbox.
type Config struct {
	Mode Mode
	// Machine remembers the layers of earlier processes, for ModeAuto. Nil means that nothing is
	// remembered.
	Machine *Machine
	// Network grants toolhost's own network. Without it, the process has at most its own loopback.
	Network bool
	// Workspace is the folder in which tools work, and WorkspaceAccess is the process's access to
	// it. It has the same path inside. Empty means no workspace.
	Workspace       string
	WorkspaceAccess tool.Access
	// Elsewhere is the backend of a workspace that is no folder of this machine, such as memory. The
	// process reaches it at a socket, with WorkspaceAccess. Empty means that Workspace has the folder.
	Elsewhere string
	// Read and Write are further files and folders, which must exist.
	Read, Write []string
	// Hidden are paths that the process must not see, and Protected are paths that it must not
	// change. They are toolhost's own files, and may be in a granted folder. Both apply to names,
	// whatever file has the name now or later. ShieldError describes names for which that is
	// impossible.
	Hidden, Protected []string
	// Names are file names that the process must not create or change directly in any folder that
	// it may write, because they have a meaning for toolhost in every folder.
	Names []string
	// Least are groups of layers. The process is not started unless at least one layer of each group
	// is effective, whatever Mode says. Empty means that only Mode decides.
	Least [][]string
}

// Situation holds what a Plan depends on besides its Config.
type Situation struct {
	// Program is the executable. It is made visible with the installations of its interpreters.
	Program string
	// Folder is the folder with the plugin's code, which the process may read. Empty means none.
	Folder string
	// Dir is the process's working folder.
	Dir string
	// Own are folders that belong to the process alone. It may write them.
	Own []string
	// Stage is an empty folder outside of Own, for this process alone, over which the new root is
	// mounted.
	Stage string
	// PIDNamespace says whether the process gets a PID namespace and its own /proc. If not,
	// NoPIDNamespace says why.
	PIDNamespace   bool
	NoPIDNamespace string
	// Beside says that the process starts in all namespaces that Config.Separate returns, so that
	// it need not make them. Root must own them.
	Beside bool
	// Without names the layers that are not tried, with the reasons.
	Without map[string]string
}

// Separate returns the namespaces that the process gets in addition to those for mounts and
// processes: Network, IPC, both or none. without is the field of the Situation.
func (c Config) Separate(without map[string]string) []string {
	var separate []string
	for _, layer := range []string{Network, IPC} {
		if without[layer] == "" && without[namespaces] == "" && (layer != Network || !c.Network) {
			separate = append(separate, layer)
		}
	}
	return separate
}

func (c Config) check() error {
	switch c.Mode {
	case "", ModeOff, ModeOn, ModeRequired, ModeAuto:
	default:
		return fmt.Errorf("the sandbox's mode is %q, not off, on, required or auto", c.Mode)
	}
	switch c.WorkspaceAccess {
	case "", tool.AccessNone, tool.AccessRead, tool.AccessWrite:
	default:
		return fmt.Errorf("the access to the workspace is %q, not none, read or write", c.WorkspaceAccess)
	}
	for _, list := range [][]string{c.Read, c.Write, c.Hidden, c.Protected} {
		for _, path := range list {
			if !filepath.IsAbs(path) {
				return fmt.Errorf("the sandbox's path %q is not absolute", path)
			}
		}
	}
	for _, name := range c.Names {
		if name != filepath.Base(name) {
			return fmt.Errorf("%q is not the name of a file", name)
		}
	}
	return nil
}

// lacks returns an error if no layer of one of the groups in Least is effective.
func (c Config) lacks(layers []tool.SandboxLayer) error {
	for _, group := range c.Least {
		lacking, some := tool.SandboxLayer{Name: strings.Join(group, " or ")}, false
		for _, layer := range layers {
			if slices.Contains(group, layer.Name) {
				some = some || layer.Effective
				lacking.Note = cmp.Or(lacking.Note, layer.Note)
			}
		}
		if !some {
			return &RefusedError{Layer: lacking}
		}
	}
	return nil
}

// access returns the access to the workspace.
func (c Config) access() tool.Access {
	if c.backend() == "" || c.WorkspaceAccess == "" {
		return tool.AccessNone
	}
	return c.WorkspaceAccess
}

// backend returns where the workspace is; empty: there is none.
func (c Config) backend() string {
	if c.Elsewhere != "" {
		return c.Elsewhere
	}
	if c.Workspace != "" {
		return tool.LocalWorkspace
	}
	return ""
}
