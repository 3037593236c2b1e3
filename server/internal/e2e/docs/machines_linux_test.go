//go:build more

package docs

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
)

// first is the address of the machine on which the blocks without on= are executed. The pages show
// the addresses, which are reserved for documentation.
const first = "192.0.2.10"

// addresses has the addresses of the other machines.
var addresses = map[string]string{"team": "192.0.2.20", "auditor": "192.0.2.30"}

// The commands of the pages about several machines work. Each machine is a network namespace with
// its own home folder. Its only network is a virtual Ethernet cable to the first machine. The
// machine of the team has Python and the package of the Python SDK, and no program of toolhost.
func TestPagesOnMachines(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, path := range pages {
		p, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		if !p.onMachines() {
			continue
		}
		tested++
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) {
			t.Parallel()
			needs(t, "python")
			newReaders(t).follow(t, p)
		})
	}
	if tested == 0 {
		t.Error("no page has a command for another machine")
	}
}

// newReaders returns the reader at the first machine, which knows those at the other machines.
func newReaders(t *testing.T) *reader {
	t.Helper()
	hub := newMachine(t, nil)
	hub.run(t, "ip", "link", "set", "lo", "up")
	r := newReader(t, "work", "")
	r.enter, r.others = hub.enter(), map[string]*reader{}
	copies := ""
	for name, address := range addresses {
		m := newMachine(t, hub)
		hub.run(t, "ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", strconv.Itoa(m.pid))
		hub.run(t, "ip", "address", "add", first, "peer", address, "dev", name)
		hub.run(t, "ip", "link", "set", name, "up")
		m.run(t, "ip", "link", "set", "lo", "up")
		m.run(t, "ip", "address", "add", address, "peer", first, "dev", "eth0")
		m.run(t, "ip", "link", "set", "eth0", "up")
		other := newReader(t, "work", "")
		other.enter = m.enter()
		r.others[name] = other
		copies += fmt.Sprintf("%s) to=%s ;;\n", address, other.dir)
	}
	r.others["team"].hasOnlyPython(t)
	// The machines have no SSH server, so copying a file to another machine is copying it to another
	// folder.
	tools := filepath.Join(r.home, "tools")
	if err := os.Mkdir(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	scp := "#!/bin/sh\nset -eu\nfor to; do :; done\nto=${to#*@}\ncase ${to%:*} in\n" + copies + "*) exit 1 ;;\nesac\n" +
		"while [ $# -gt 1 ]; do cp -p \"$1\" \"$to\"; shift; done\n"
	if err := os.WriteFile(filepath.Join(tools, "scp"), []byte(scp), 0o700); err != nil {
		t.Fatal(err)
	}
	r.setPath(tools + ":" + bin + ":" + os.Getenv("PATH"))
	return r
}

// hasOnlyPython gives the reader the wheel of the SDK, as a release has it, and what pip needs to
// install it without a network. It takes the programs of toolhost away.
func (r *reader) hasOnlyPython(t *testing.T) {
	t.Helper()
	r.setPath(os.Getenv("PATH"))
	r.env = append(r.env, "PIP_NO_INDEX=1", "PIP_FIND_LINKS="+wheels(t))
	wheel, err := sdkarchive.Wheel(toolhost.Sources())
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, filepath.Join(r.dir, wheel.Name), string(wheel.Data))
	for _, name := range []string{"toolhost", "agentd"} {
		if found := r.script(t, page{}, block{language: "sh", text: "command -v " + name + " || true\n"}); found != "" {
			t.Fatalf("the machine of the team has %s", found)
		}
	}
}

func (r *reader) setPath(path string) {
	r.env = slices.DeleteFunc(r.env, func(variable string) bool { return strings.HasPrefix(variable, "PATH=") })
	r.env = append(r.env, "PATH="+path)
}

// machine is a network namespace. A process in it keeps it alive until the test ends, also if the
// test is killed. A user who is not root has no right to make network namespaces. So all machines
// are then in one user namespace, in which that user is root.
type machine struct{ pid int }

// newMachine makes a machine. If hub is not nil, the new machine is in its user namespace.
func newMachine(t *testing.T, hub *machine) *machine {
	t.Helper()
	var command []string
	if hub != nil {
		command = hub.enter()
	}
	command = append(command, "unshare", "--net")
	if hub == nil && os.Geteuid() != 0 {
		command = append(command, "--user", "--map-root-user")
	}
	command = append(command, "sh", "-c", "echo $$; exec cat")
	cmd := exec.Command(command[0], command[1:]...)
	var said strings.Builder
	cmd.Stderr = &said
	stdin, err := cmd.StdinPipe() // its end ends cat
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		_ = cmd.Wait()
		t.Fatalf("no network namespace can be made: %s%v, %q\nrun the test as root, or let all users make user namespaces, "+
			"on Ubuntu with: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", said.String(), err, line)
	}
	return &machine{cmd.Process.Pid}
}

// enter returns the program, with its arguments, that runs a command on the machine.
func (m *machine) enter() []string {
	command := []string{"nsenter", "--target=" + strconv.Itoa(m.pid), "--net"}
	if os.Geteuid() != 0 {
		command = append(command, "--user", "--preserve-credentials")
	}
	return append(command, "--")
}

// run runs a command on the machine.
func (m *machine) run(t *testing.T, command ...string) {
	t.Helper()
	all := append(m.enter(), command...)
	if out, err := exec.CommandContext(t.Context(), all[0], all[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
}
