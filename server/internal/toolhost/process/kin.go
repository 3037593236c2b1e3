package process

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// Kin identifies the processes that a toolhost started, and all their descendants.
type Kin struct {
	// Token is the beginning of the processes' marks, up to the slash. Empty means that marks do
	// not count.
	Token string
	// Cgroups are the folders of the toolhost's control groups, which hold no other processes.
	Cgroups []string
	// Ancestors are processes all of whose descendants belong to the toolhost: the toolhost itself,
	// and its subreapers.
	Ancestors []int
}

// Includes reports whether a process is one of the toolhost's. It returns true for a process that
// ends during the check, because the origin of that process cannot be found any more. It returns
// false for a process that does not exist in this PID namespace. Includes reads a few small files
// and does not block.
func (k Kin) Includes(pid int) bool {
	if pid <= 0 {
		return false // in a PID namespace that is not below this one; toolhost starts no process there
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

// inGroup reports whether a list of control groups contains the one of a folder, or one below it.
// It compares the name only: no other toolhost has a control group of that name.
func inGroup(groups, dir string) bool {
	name := "/" + filepath.Base(dir)
	for line := range strings.Lines(groups) {
		if line = strings.TrimSuffix(line, "\n"); strings.Contains(line, name+"/") || strings.HasSuffix(line, name) {
			return true
		}
	}
	return false
}
