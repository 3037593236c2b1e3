package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/sdk/workspace/commands"
)

// TestMain is also the main function of supervisors, because this program starts itself as one.
func TestMain(m *testing.M) {
	commands.Supervise()
	// By default the race detector makes each supervisor sleep for a second before it exits.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(withoutProcesses{m})
}

// withoutProcesses fails if the tests left a process.
type withoutProcesses struct{ m *testing.M }

func (w withoutProcesses) Run() int {
	code := w.m.Run()
	if left := children(); left != "" {
		fmt.Printf("the tests left the processes %s\n", left)
		return 1
	}
	return code
}

// children returns the ids of the children of this process. It adopts orphans, so that whatever its
// commands left is among them or below them.
func children() string {
	tasks, _ := os.ReadDir("/proc/self/task")
	var all []string
	for _, task := range tasks {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(os.Getpid()) + "/task/" + task.Name() + "/children")
		all = append(all, strings.Fields(string(text))...)
	}
	return strings.Join(all, " ")
}
