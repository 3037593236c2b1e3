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
