package process_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
)

// started starts a shell script that prints a pid, and returns that pid.
func started(t *testing.T, env []string, text string) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", text)
	cmd.Env = env
	cmd.WaitDelay = 0
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close() // all of them wait for it
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	})
	var pid int
	if _, err := fmt.Fscan(stdout, &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestKinAreFoundByWhatTheyCannotAllWipe(t *testing.T) {
	marked := append(os.Environ(), proc.MarkName+"=token/instance")
	const wait, orphan = "read x", "(sh -c 'echo $$; read x' <&3 &) 3<&0; exit"
	child := started(t, marked, "echo $$; "+wait)
	groups, err := proc.Cgroups(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		kin  process.Kin
		pid  int
		want bool
	}{
		"a child":                          {process.Kin{Ancestors: []int{os.Getpid()}}, child, true},
		"a grandchild":                     {process.Kin{Ancestors: []int{os.Getppid()}}, child, true},
		"an ancestor":                      {process.Kin{Ancestors: []int{child}}, os.Getpid(), false},
		"itself":                           {process.Kin{Ancestors: []int{os.Getpid()}}, os.Getpid(), false},
		"marked":                           {process.Kin{Token: "token"}, child, true},
		"marked by another toolhost":       {process.Kin{Token: "tok"}, child, false},
		"an orphan that is marked":         {process.Kin{Token: "token", Ancestors: []int{os.Getpid()}}, started(t, marked, orphan), true},
		"an orphan that is not":            {process.Kin{Token: "token"}, started(t, os.Environ(), orphan), false},
		"in another world of processes":    {process.Kin{Token: "token", Ancestors: []int{os.Getpid()}}, 0, false},
		"in a group that is there for all": {process.Kin{Cgroups: []string{lastGroup(groups)}}, os.Getpid(), lastGroup(groups) != "/"},
		"in no group":                      {process.Kin{Cgroups: []string{"/sys/fs/cgroup/toolhost-none"}}, os.Getpid(), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.kin.Includes(test.pid); got != test.want {
				t.Errorf("Includes(%d) = %v, want %v", test.pid, got, test.want)
			}
		})
	}
}

// lastGroup returns the last group of a list in the system's format.
func lastGroup(groups string) string {
	lines := strings.Split(strings.TrimSpace(groups), "\n")
	return filepath.Clean("/" + lines[len(lines)-1][strings.LastIndexByte(lines[len(lines)-1], ':')+1:])
}

// A process that is gone is refused, because its origin is unknown.
func TestKinOfAProcessThatIsGone(t *testing.T) {
	cmd := exec.Command("/bin/true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	kin := process.Kin{Ancestors: []int{os.Getpid()}}
	if !kin.Includes(cmd.Process.Pid) {
		t.Errorf("process %s is taken for somebody else's", strconv.Itoa(cmd.Process.Pid))
	}
}
