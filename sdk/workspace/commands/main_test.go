package commands

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the main function of supervisors, because this program starts itself as one.
func TestMain(m *testing.M) {
	Supervise()
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
	if left := descendants(os.Getpid()); len(left) > 0 {
		fmt.Printf("the tests left processes: %+v\n", left)
		return 1
	}
	return code
}
