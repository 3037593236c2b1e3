package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Tree returns the processes that are there of the roots and all that descends from them. One whose parent ended is
// found only if a root adopted it. It costs a few reads for each process, whatever else the machine runs; on kernels
// that do not list children, it is the roots alone.
func Tree(roots ...int) []int {
	found := slices.Clone(roots)
	for i := 0; i < len(found); i++ {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", found[i]))
		for _, list := range lists {
			text, err := os.ReadFile(list)
			if err != nil {
				continue
			}
			for _, field := range bytes.Fields(text) {
				if pid, err := strconv.Atoi(string(field)); err == nil && !slices.Contains(found, pid) {
					found = append(found, pid)
				}
			}
		}
	}
	return found
}

// Usage returns how much memory a process has in RAM, in bytes, and how many threads. Memory that several processes
// share counts for each of them.
func Usage(pid int) (memory uint64, threads int, err error) {
	memory, err = ResidentBytes(pid)
	if err != nil {
		return 0, 0, err
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("looking at process %d: %w", pid, err)
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const at = 17 // the 20th of all, of which two are before the parenthesis
	if len(fields) <= at {
		return 0, 0, fmt.Errorf("looking at process %d: unexpected status %q", pid, text)
	}
	threads, err = strconv.Atoi(string(fields[at]))
	return memory, threads, err
}
