package process

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
)

// Kin tells what a toolhost started, and whatever that started, from all other processes.
type Kin struct {
	// Token is what the marks of its processes begin with, up to the slash. Empty: marks do not count.
	Token string
	// Cgroups are the folders of its control groups, in which there are its processes alone.
	Cgroups []string
	// Ancestors are processes from which only what it started descends: itself, and whoever adopts orphans for it.
	Ancestors []int
}

// Includes reports whether a process is one of them. One that ends meanwhile is, for nobody can tell any more; one that is
// not there, as seen from here, is not. It reads a few small files, and does not block.
func (k Kin) Includes(pid int) bool {
	if pid <= 0 {
		return false // in another world of processes, into which toolhost starts none
	}
	groups, err := proc.Cgroups(pid)
	if errors.Is(err, proc.ErrUnknown) {
		return false
	}
	if err == nil && slices.ContainsFunc(k.Cgroups, func(dir string) bool { return inGroup(groups, dir) }) {
		return true
	}
	for _, ancestor := range k.Ancestors {
		if descends, err := proc.Descends(pid, ancestor); descends || err != nil {
			return true
		}
	}
	return k.Token != "" && proc.HasMark(pid, k.Token+"/")
}

// inGroup reports whether a list of control groups names the one of a folder, or one in it. The name alone is enough: no
// other toolhost has one of the same name.
func inGroup(groups, dir string) bool {
	name := "/" + filepath.Base(dir)
	for line := range strings.Lines(groups) {
		if line = strings.TrimSuffix(line, "\n"); strings.Contains(line, name+"/") || strings.HasSuffix(line, name) {
			return true
		}
	}
	return false
}
