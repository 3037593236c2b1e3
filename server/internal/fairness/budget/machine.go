package budget

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// MachineMemory returns how many bytes of memory this process can use: the memory of the machine,
// or less if its control group limits it. It returns 0 if the system does not report it.
func MachineMemory() int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	memory := int64(math.MaxInt64)
	if kib, ok := field(data, "MemTotal:"); ok {
		memory = kib << 10
	}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for _, limit := range groupLimits(groups) {
		if data, err := os.ReadFile(limit); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && n > 0 {
				memory = min(memory, n) // "max" means no limit
			}
		}
	}
	if memory == math.MaxInt64 {
		return 0
	}
	return memory
}

// field returns the number after a name in /proc/meminfo.
func field(data []byte, name string) (int64, bool) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == name {
			n, err := strconv.ParseInt(words[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// groupLimits returns the files that may limit the memory of this process: those of its control
// group and of the groups above it. groups is the content of /proc/self/cgroup.
func groupLimits(groups []byte) []string {
	var files []string
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		root, file := "", ""
		switch {
		case parts[0] == "0":
			root, file = "/sys/fs/cgroup", "memory.max"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			files = append(files, path.Join(root, group, file))
			if group == "/" {
				break
			}
		}
	}
	return files
}
