package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
)

// survivorGrace is the time that descendants of an ended process have to end by themselves. Their
// parent may have told them to end, without waiting.
const survivorGrace = 250 * time.Millisecond

// lookForSurvivors returns the names of the descendants of a process that has ended and is not
// reaped: all processes in its namespace, and all that carry its mark.
func (c *child) lookForSurvivors(mark string) []string {
	for deadline := time.Now().Add(survivorGrace); ; time.Sleep(survivorGrace / 10) {
		left := c.descendants(mark)
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// descendants must run on the thread that started the process. In a PID namespace, that thread sees
// only the processes of the namespace. The namespace's first process, which is toolhost's, also
// carries the mark.
func (c *child) descendants(mark string) []string {
	const first = 1
	alone := c.namespace != nil && proc.HasMark(first, mark)
	entries, _ := os.ReadDir("/proc")
	var names []string
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == c.id.PID && !alone || pid == first && alone || !proc.Alive(pid) || !alone && !proc.HasMark(pid, mark) {
			continue
		}
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		names = append(names, string(bytes.TrimSpace(name)))
	}
	return names
}
