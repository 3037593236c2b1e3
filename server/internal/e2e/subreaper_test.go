package e2e_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
)

// nobody is the id of an unprivileged user.
const nobody = 65534

// asOrdinaryUser prepares a binary below a home to run as an ordinary user.
func asOrdinaryUser(t *testing.T, home, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t.Context(), home, []string{"TOOLHOST_ADDR=unix://" + filepath.Join(home, "t.sock")}, name, args...)
	cmd.Path = filepath.Join(home, name)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// On a machine where plugins get neither control groups nor namespaces, toolhost consists of three
// processes: the outer subreaper, the inner one, and the one that serves. If any one or two of them
// are killed, all processes of plugins end soon. This includes a process that left its group and
// its session and cleared its environment.
func TestNothingHidesFromAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	const outer, inner, served = 0, 1, 2
	for name, members := range map[string][]int{
		"outer": {outer}, "inner": {inner}, "served": {served},
		"outer, inner": {outer, inner}, "inner, outer": {inner, outer}, "outer, served": {outer, served},
		"served, outer": {served, outer}, "inner, served": {inner, served}, "served, inner": {served, inner},
	} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			chain := startBelowSubreapers(t, home)
			called := run(t, asOrdinaryUser(t, home, "toolhost", "call", "--approve", "fault", `{"do":"spawn","text":"bare"}`))
			called.exits(t, 0)
			hidden, err := strconv.Atoi(strings.TrimSpace(called.stdout))
			if err != nil || !running(hidden) {
				t.Fatalf("the process that hides is %q", called.stdout)
			}
			for _, member := range members {
				if err := syscall.Kill(chain[member], syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
					t.Fatal(err)
				}
			}
			eventually.Holds(t, "the process that hides is gone", func() bool { return !running(hidden) })
			eventually.Holds(t, "toolhost is gone", func() bool { return !slices.ContainsFunc(chain[:], running) })
			eventually.Holds(t, "the socket is gone", func() bool { return len(sockets(t, home)) == 0 })
		})
	}
}

// startBelowSubreapers starts toolhost as an ordinary user with a plugin. It returns the process
// ids of the outer subreaper, the inner one and the serving process.
func startBelowSubreapers(t *testing.T, home string) (chain [3]int) {
	t.Helper()
	plugins := filepath.Join(home, "plugins")
	if err := os.Mkdir(plugins, 0o755); err != nil {
		t.Fatal(err)
	}
	copyPlugin(t, filepath.Join(bin, "toolhost"), filepath.Join(home, "toolhost"), "")
	copyPlugin(t, filepath.Join(bin, "faultplugin"), filepath.Join(plugins, "fault"), "")
	if os.Geteuid() == 0 {
		if err := os.Chown(home, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	serve := asOrdinaryUser(t, home, "toolhost", "serve", "--plugins", plugins, "--listen", "unix://"+filepath.Join(home, "t.sock"))
	stdout, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait()
	})
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	if !strings.Contains(line, "ready") {
		t.Fatalf("the line that says it is ready is %q", line)
	}
	family := proc.Tree(serve.Process.Pid) // each process is the first child of the one above
	if len(family) < len(chain) || !serves(family[1]) {
		// control groups find all processes here, so toolhost runs without subreapers
		pid := serve.Process.Pid
		return [3]int{pid, pid, pid}
	}
	copy(chain[:], family)
	return chain
}

// serves reports whether a process is `toolhost serve`.
func serves(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && bytes.Contains(line, []byte("\x00serve\x00"))
}
