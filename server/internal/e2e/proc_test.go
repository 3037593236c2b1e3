package e2e_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state, _ := statFields(string(stat))
	return state != "Z" && state != "X"
}

// server returns the process of a toolhost that serves: the one that was started, or the one below
// two subreapers, where plugins have neither control groups nor PID namespaces.
func (h *toolhost) server(t *testing.T) int {
	t.Helper()
	for _, pid := range descendants(t, h.cmd.Process.Pid) {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if filepath.Base(exe) == "toolhost" && bytes.Contains(environ, []byte("TOOLHOST_SUBREAPER=served\x00")) {
			return pid
		}
	}
	return h.cmd.Process.Pid
}

// descendants returns the descendants of a process, children first.
func descendants(t *testing.T, root int) []int {
	t.Helper()
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "stat"))
		if err != nil {
			continue // ended in the meantime
		}
		_, parent := statFields(string(stat))
		children[parent] = append(children[parent], pid)
	}
	var family []int
	for next := children[root]; len(next) > 0; {
		pid := next[0]
		family = append(family, pid)
		next = append(next[1:], children[pid]...)
	}
	return family
}

// statFields returns the state and the parent's id from a line of /proc/PID/stat.
func statFields(stat string) (state string, parent int) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

// sockets returns the unix sockets below a folder.
func sockets(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeSocket != 0 {
			found = append(found, path)
		}
		return nil // a vanished file is not a leftover
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// runFolders returns the runtime dirs of the toolhosts of a home.
func runFolders(t *testing.T, home string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, "toolhost-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
