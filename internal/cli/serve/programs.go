package serve

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/internal/cli"
)

// The sandbox keeps tools from changing a plugin and the configuration. It must also keep them from
// changing a program that the operator starts next, because that program runs outside of every
// sandbox. An unpacked release may lie in the workspace: a tool that replaced toolhost there would
// get the operator's rights at the next start.

// operatorPrograms are the programs that run with the operator's rights.
var operatorPrograms = []string{cli.Toolhost, "agentd"}

// ownPrograms returns the paths of the programs that the operator may start: those beside this
// program, where agentd looks for toolhost, the path by which this process was started, and those
// that PATH names. A program beside this one need not exist.
func ownPrograms() []string {
	var paths []string
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			for _, name := range operatorPrograms {
				paths = append(paths, filepath.Join(filepath.Dir(self), name))
			}
			paths = append(paths, self)
		}
	}
	for _, name := range append(slices.Clip(operatorPrograms), os.Args[0]) {
		if path, err := exec.LookPath(name); err == nil {
			paths = append(paths, programPaths(path)...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// programPaths returns the paths that keep a program what it is: its file, and the folder of a link
// to it, because a mount cannot protect a link.
func programPaths(path string) []string {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	paths := []string{real}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			paths = append(paths, dir)
		}
	}
	return paths
}

// protectable returns the paths that the sandbox can protect, of those that a plugin may change. If a
// file has a second name, its folder takes its place. A path that the operator granted by its own name
// stays writable, as do the folders around what was granted.
func (g sandboxDefaults) protectable(paths []string) []string {
	var found []string
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && hasOtherNames(info) {
			path = filepath.Dir(path)
		}
		inside := func(folder string) bool { return within(path, folder) && !within(folder, path) }
		granted := func(folder string) bool { return within(folder, path) }
		if slices.ContainsFunc(g.writable, inside) && !slices.ContainsFunc(g.writable, granted) && !slices.ContainsFunc(g.hidden, func(h string) bool { return within(path, h) }) {
			found = append(found, path)
		}
	}
	return found
}

// hasOtherNames reports whether a file has more than one hard link.
func hasOtherNames(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}

// programs returns what the known plugins execute outside of their own folders: interpreters, such as
// the Python of a virtual environment, and what links of a plugin lead to. A tool that could change it
// would get the grants of another plugin.
func (l *launcher) programs(g sandboxDefaults) []string {
	known := l.known.Load()
	if known == nil || len(g.writable) == 0 {
		return nil
	}
	var paths []string
	seen := map[string]bool{}
	add := func(path string) bool {
		first := path != "" && !seen[path]
		seen[path] = true
		return first
	}
	for _, p := range known.Snapshot().Plugins() {
		if p.Manifest != nil && !strings.HasPrefix(p.Path, p.Dir+string(filepath.Separator)) && add(p.Path) {
			paths = append(paths, programPaths(p.Path)...)
		}
		for _, path := range p.Outside {
			if add(path) {
				paths = append(paths, path)
			}
		}
	}
	return g.protectable(paths)
}
