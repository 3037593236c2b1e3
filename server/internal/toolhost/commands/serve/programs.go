package serve

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
)

// The sandbox keeps tools from changing a plugin and the configuration. It must also keep them from
// changing a program that the operator starts next, because that program runs outside of every
// sandbox. An unpacked release may lie in the workspace: a tool that replaced toolhost there would
// get the operator's rights at the next start.

// operatorPrograms are the programs that run with the operator's rights.
var operatorPrograms = []string{cli.Toolhost, "agentd"}

// ownPrograms returns the paths of the programs that the operator may start: those beside this
// program, where agentd looks for toolhost, the paths by which this process and its agentd were
// started, those that PATH names, and the free names that would be found before those. A program
// beside this one need not exist.
func ownPrograms(started []string) []string {
	var paths []string
	for _, path := range started {
		paths = append(paths, launch.ProgramPaths(path)...)
	}
	if self, err := os.Executable(); err == nil {
		if self, err = filepath.EvalSymlinks(self); err == nil {
			for _, name := range operatorPrograms {
				paths = append(paths, launch.ProgramPaths(filepath.Join(filepath.Dir(self), name))...)
			}
			paths = append(paths, self)
		}
	}
	for _, name := range append(slices.Clip(operatorPrograms), os.Args[0]) {
		if path, err := exec.LookPath(name); err == nil {
			for _, path := range append(launch.EarlierInPath(name), path) {
				paths = append(paths, launch.ProgramPaths(path)...)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
