package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// victimBias is how much sooner than toolhost a plugin process is killed when the machine runs out of memory, in the unit of
// oom_score_adj: thousandths of the memory that is allowed. A plugin that dies costs its calls, toolhost all calls.
const victimBias = 500

// preferAsVictim lets the kernel kill a process, and what it starts from now on, before toolhost. Any user may do that to a
// process of its own. Where toolhost is privileged, the process cannot undo it. Where it fails, nothing is lost but the order.
func preferAsVictim(pid int) {
	own := 0
	if data, err := os.ReadFile("/proc/self/oom_score_adj"); err == nil {
		own, _ = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	bias := min(own+victimBias, 1000)
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte(strconv.Itoa(bias)), 0)
}

// oomKills returns how many processes the kernel has killed for want of memory: of those that are in toolhost's own control
// group, or of all of the machine where there is none. A plugin that has a control group of its own is not among them: that
// one tells by itself.
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

// oomKillsIn returns the number in the line "oom_kill N" of a file.
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
