package e2e_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/eventually"
)

// nobody is the user that has no rights.
const nobody = 65534

// byNobody prepares a binary below a home to be run by an ordinary user.
func byNobody(t *testing.T, home, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t.Context(), home, []string{"TOOLHOST_ADDR=unix://" + filepath.Join(home, "t.sock")}, name, args...)
	cmd.Path = filepath.Join(home, name)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return cmd
}

// TestNothingHidesFromAnOrdinaryUser: also where plugins get neither control groups nor namespaces, what left its group and
// its session and wiped its environment is gone soon after toolhost was killed.
func TestNothingHidesFromAnOrdinaryUser(t *testing.T) {
	home := newHome(t)
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
	serve := byNobody(t, home, "toolhost", "serve", "--plugins", plugins, "--listen", "unix://"+filepath.Join(home, "t.sock"))
	stdout, err := serve.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer serve.Wait()
	defer serve.Process.Kill()
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	if !strings.Contains(line, "ready") {
		t.Fatalf("the line that says it is ready is %q", line)
	}
	called := run(t, byNobody(t, home, "toolhost", "call", "--approve", "fault", `{"do":"spawn","text":"bare"}`))
	called.exits(t, 0)
	hidden, err := strconv.Atoi(strings.TrimSpace(called.stdout))
	if err != nil || !running(hidden) {
		t.Fatalf("what hides is %q", called.stdout)
	}
	if err := serve.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "what hides is gone", func() bool { return !running(hidden) })
	eventually.Holds(t, "the socket is gone", func() bool { return len(sockets(t, home)) == 0 })
}
