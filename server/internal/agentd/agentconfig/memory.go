package agentconfig

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/memoryfile"
)

const workspacePrefix = "workspace:"

// WorkspaceFile returns the path in the workspace that an element of a list of memory files names.
// ok is false for a file of the operator.
func WorkspaceFile(file string) (path string, ok bool) {
	return strings.CutPrefix(file, workspacePrefix)
}

// checkMemory reports what is wrong with a list of memory files. fail gets the key of an element.
func checkMemory(files []string, fail func(key, format string, args ...any)) {
	if len(files) > memoryfile.MaxFiles {
		fail("memory", "there are %d files; there may be %d", len(files), memoryfile.MaxFiles)
	}
	for i, file := range files {
		key := fmt.Sprintf("memory[%d]", i)
		if path, ok := WorkspaceFile(file); ok {
			if err := memoryfile.CheckName(path); err != nil {
				fail(key, "%v", err)
			}
		} else if file == "" {
			fail(key, "the path is empty")
		}
		if slices.Contains(files[:i], file) {
			fail(key, "the file %.80q is in the list already", file)
		}
	}
}
