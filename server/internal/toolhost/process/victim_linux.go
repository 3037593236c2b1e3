package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// victimBias is added to the oom_score_adj of a plugin process, in thousandths of the allowed
// memory. When the machine runs out of memory, the kernel then kills plugins before toolhost. A
// killed plugin loses its calls, a killed toolhost all calls.
const victimBias = 500

// preferAsVictim makes the kernel kill a process, and everything that it starts later, before
// toolhost when memory runs out. Any user may do that to its own processes. If toolhost is
// privileged, the process cannot undo it. If preferAsVictim fails, the only consequence is a worse
// order of kills.
func preferAsVictim(pid int) {
	score := 0
	if data, err := os.ReadFile("/proc/self/oom_score_adj"); err == nil {
		score, _ = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	bias := min(score+victimBias, 1000)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(strconv.Itoa(bias)), 0)
}

// oomKills returns the number of processes that the kernel killed because memory ran out: in
// toolhost's own control group, or on the whole machine without one. It does not count a plugin
// with its own control group, which reports such kills itself.
func oomKills() uint64 {
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		file := ""
		switch {
		case parts[0] == "0":
			file = "/sys/fs/cgroup" + parts[2] + "/memory.events.local"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			file = "/sys/fs/cgroup/memory" + parts[2] + "/memory.oom_control"
		}
		if n, ok := oomKillsIn(file); ok {
			return n
		}
	}
	n, _ := oomKillsIn("/proc/vmstat")
	return n
}

// oomKillsIn returns the number N of a line "oom_kill N" in a file.
func oomKillsIn(file string) (uint64, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		if count, found := strings.CutPrefix(line, "oom_kill "); found {
			n, err := strconv.ParseUint(strings.TrimSpace(count), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
