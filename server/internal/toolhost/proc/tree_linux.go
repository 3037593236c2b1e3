package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// Tree returns those of the roots that exist, and all their descendants. A process whose parent has
// ended is found only if a root adopted it. Tree costs a few reads for each process of the tree. On
// kernels that do not list children, it returns the roots alone.
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

// Usage returns a process's resident memory, in bytes, and its number of threads. Memory that
// several processes share counts for each of them.
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
	const at = 17 // field 20 of all, two of which are before the parenthesis
	if len(fields) <= at {
		return 0, 0, fmt.Errorf("looking at process %d: unexpected status %q", pid, text)
	}
	threads, err = strconv.Atoi(string(fields[at]))
	return memory, threads, err
}
