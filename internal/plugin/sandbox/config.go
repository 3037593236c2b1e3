package sandbox

import (
	"fmt"
	"path/filepath"

	"github.com/toolhost/toolhost/tool"
)

// Mode says whether there are layers.
type Mode string

// The modes. The zero value is ModeOff.
const (
	ModeOff      Mode = "off"      // none
	ModeOn       Mode = "on"       // those that this machine gives
	ModeRequired Mode = "required" // all, or the process is not started
	ModeAuto     Mode = "auto"     // those that a process of the same Machine has had, or it is not started; else ModeOn
)

// Config says what one process may touch besides the system's libraries. All paths are absolute. The zero value has no
// layers.
type Config struct {
	Mode Mode
	// Machine remembers what processes have had, for ModeAuto. Nil: nothing is remembered.
	Machine *Machine
	// Network is whether it may use toolhost's own network. Without, it has a loopback of its own at most.
	Network bool
	// Workspace is the folder that tools work in, and WorkspaceAccess what the process may do there. It is at the same path
	// inside. Empty: none.
	Workspace       string
	WorkspaceAccess tool.Access
	// Read and Write are further files and folders. They must be there.
	Read, Write []string
	// Hidden is what stays out of sight, and Protected what is not to be changed, even where a folder around it was granted:
	// toolhost's own. Both hold of names, whatever has them now or later; see ShieldError for what cannot be held.
	Hidden, Protected []string
	// Names are names of files that are not to be changed directly in any folder that the process may write: they mean
	// something to toolhost wherever they are.
	Names []string
}

// Situation is what a Plan depends on and its Config does not say.
type Situation struct {
	// Program is the file that is executed; what it needs to run is made visible: itself, and the installation of the
	// interpreter behind it.
	Program string
	// Folder is a folder that is the plugin's code; empty: none. It can be read.
	Folder string
	// Dir is where the process starts.
	Dir string
	// Own are folders that are the process's alone. They can be written.
	Own []string
	// Stage is an empty folder outside of Own that nobody else uses, over which the new root is mounted.
	Stage string
	// PIDNamespace is whether the process gets a PID namespace and a /proc of its own, and NoPIDNamespace why not.
	PIDNamespace   bool
	NoPIDNamespace string
	// Beside says that the process is started in namespaces of its own for what Config.Separate names, so that it has not to
	// make them. It must be root's.
	Beside bool
	// Waits says that the process may wait behind its layers, so that Current is going to be asked.
	Waits bool
	// Without says which layers are not to be tried, and why.
	Without map[string]string
}

// Separate returns of which things the process is to have a namespace of its own, besides mounts and processes: Network, IPC,
// both or none. without is that of the Situation.
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
