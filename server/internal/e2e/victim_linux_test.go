package e2e_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// When the machine runs out of memory, the kernel's out-of-memory killer must prefer plugins.
func TestPluginsDieBeforeToolhost(t *testing.T) {
	h := start(t)
	c := h.dial(t)
	if _, err := c.Call(t.Context(), tool.Call{Tool: "calculator", Arguments: []byte(`{"expression":"1"}`)}); err != nil {
		t.Fatal(err)
	}
	instances, err := c.Admin().Instances(t.Context(), "calculator")
	if err != nil || len(instances) != 1 {
		t.Fatal(instances, err)
	}
	score := func(pid int) int {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if own, plugin := score(h.server(t)), score(instances[0].PID); plugin <= own {
		t.Errorf("toolhost has the oom_score_adj %d and its plugin %d", own, plugin)
	}
}
