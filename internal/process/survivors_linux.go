package process

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/internal/guardian/proc"
)

// survivorGrace is how long what a process started may take to go after it: its parent may have told it to, without
// waiting.
const survivorGrace = 250 * time.Millisecond

// lookForSurvivors returns what is left of a process that has ended and is not reaped: all in its namespace, and whatever
// carries its mark.
func (c *child) lookForSurvivors(mark string) []string {
	for deadline := time.Now().Add(survivorGrace); ; time.Sleep(survivorGrace / 10) {
		left := c.descendants(mark)
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

func (c *child) descendants(mark string) []string {
	var pids []int
	var first int
	if c.namespace != nil {
		first = c.namespace.PID()
		pids = proc.Tree(first)
	}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && proc.HasMark(pid, mark) && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	var names []string
	for _, pid := range pids {
		if pid == c.id.PID || pid == first || !proc.Alive(pid) {
			continue
		}
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		names = append(names, string(bytes.TrimSpace(name)))
	}
	return names
}
