//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// mounted returns the mounts in the items of a layout and around them, as the calling thread sees
// them: a line of mountinfo each (proc(5)). A process gets copies of these mounts when it enters
// its sandbox, and does not see later changes of them.
func mounted(items layout) ([]string, error) {
	const point = 4 // index of the field with the mount point
	text, err := os.ReadFile("/proc/thread-self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("looking at what is mounted: %w", err)
	}
	escaped := strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`)
	var paths, found []string
	for _, it := range items {
		if it.kind == bound {
			paths = append(paths, escaped.Replace(it.path))
		}
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) > point && slices.ContainsFunc(paths, func(path string) bool {
			return within(fields[point], path) || within(path, fields[point])
		}) {
			found = append(found, line)
		}
	}
	return found, nil
}
