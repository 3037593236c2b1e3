package limits

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MachineMemory returns the memory of this machine, or of the container in which toolhost runs, in
// bytes; 0 if it is unknown.
func MachineMemory() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	memory := uint64(info.Totalram) * uint64(info.Unit)
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} { // the container's own limit
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil { // "max" is no number
			memory = min(memory, limit)
		}
	}
	return memory
}
