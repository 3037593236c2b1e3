package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
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

// descendants runs on the thread that started the process, which sees the processes of the namespace alone, if there is one;
// its first one, which is toolhost's, carries the mark, too.
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
