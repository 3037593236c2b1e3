//go:build linux && (amd64 || arm64)

package sandbox_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

func TestNetwork(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	abstract, err := net.Listen("unix", "@toolhost-test-"+strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	tcp, udp, named := "dial tcp "+l.Addr().String(), "dial udp 192.0.2.1:9", "dial unix "+abstract.Addr().String()
	vsock, packet := fmt.Sprintf("call %d %d 1 0", unix.SYS_SOCKET, unix.AF_VSOCK), fmt.Sprintf("call %d %d 3 0", unix.SYS_SOCKET, unix.AF_PACKET)
	always := []attempt{{named, ""}, {vsock, "address family not supported"}, {packet, "address family not supported"}}
	t.Run("none", func(t *testing.T) {
		w := newWorld(t)
		shown := w.check(t, append([]attempt{{tcp, ""}, {udp, ""}, {"loopback", "answered"}}, always...))
		effective(t, shown, "network")
	})
	t.Run("none, and no namespace", func(t *testing.T) {
		w := newWorld(t)
		w.situation.Without["network"] = "the test does without"
		shown := w.check(t, append([]attempt{{tcp, ""}, {udp, ""}, {"loopback", ""}}, always...))
		if !effective(t, shown, "network") {
			t.Error("the filter of system calls is no layer")
		}
	})
	t.Run("granted", func(t *testing.T) {
		w := newWorld(t)
		w.cfg.Network = true
		if shown := w.check(t, append([]attempt{{tcp, "connected"}}, always...)); !shown.Network {
			t.Error("the network is not shown as granted")
		}
	})
}

func TestOtherProcessesAreOutOfReach(t *testing.T) {
	other := exec.Command("/bin/sleep", "600")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	pid := other.Process.Pid
	w := newWorld(t)
	shown := w.check(t, []attempt{
		{fmt.Sprintf("signal %d", pid), ""},
		{fmt.Sprintf("read /proc/%d/environ", pid), ""},
		{fmt.Sprintf("list /proc/%d/root", pid), ""},
		{fmt.Sprintf("read /proc/%d/fd/0", pid), ""},
		{fmt.Sprintf("signal %d", os.Getpid()), ""},
		{fmt.Sprintf("list /proc/%d/cwd", os.Getpid()), ""},
		{fmt.Sprintf("call %d %d %d 0 here", unix.SYS_PRLIMIT64, pid, unix.RLIMIT_CORE), "operation not permitted"},
		{fmt.Sprintf("call %d 0 %d 0 here", unix.SYS_PRLIMIT64, unix.RLIMIT_CORE), "errno 0"},
	})
	effective(t, shown, "pid")
}

func TestPrivilegesAreGone(t *testing.T) {
	w := newWorld(t)
	none := "0000000000000000"
	attempts := []attempt{{"status NoNewPrivs", "1"}, {"status CapInh", none}, {"status CapPrm", none}, {"status CapEff", none}, {"status CapAmb", none}}
	if os.Geteuid() == 0 {
		attempts = append(attempts, attempt{"status CapBnd", none})
	}
	shown := w.check(t, append(attempts, attempt{"status Seccomp", "2"}))
	if !effective(t, shown, "privileges") {
		t.Error("the layer is not shown")
	}
}

func TestSystemCallsAreRefused(t *testing.T) {
	const denied = "operation not permitted"
	numbered := func(want string, call ...any) attempt {
		return attempt{"call " + strings.TrimSuffix(fmt.Sprintln(call...), "\n"), want}
	}
	w := newWorld(t)
	shown := w.check(t, []attempt{
		numbered(denied, unix.SYS_MOUNT, "here", "here", "here", 0, 0),
		numbered(denied, unix.SYS_UMOUNT2, "here", 0),
		numbered(denied, unix.SYS_PIVOT_ROOT, "here", "here"),
		numbered(denied, unix.SYS_CHROOT, "here"),
		numbered(denied, unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		numbered(denied, unix.SYS_SETNS, 0, 0),
		numbered(denied, unix.SYS_CLONE, unix.CLONE_NEWUSER|int(syscall.SIGCHLD), 0, 0, 0, 0),
		numbered("function not implemented", unix.SYS_CLONE3, "here", 88),
		numbered("function not implemented", 1000),
		numbered("function not implemented", 0x40000000|unix.SYS_GETPID),
		numbered(denied, unix.SYS_PTRACE, 0, 0, 0, 0),
		numbered(denied, unix.SYS_PROCESS_VM_READV, 1, "here", 1, "here", 1, 0),
		numbered(denied, unix.SYS_BPF, 0, "here", 0),
		numbered(denied, unix.SYS_KEYCTL, 0, 0, 0, 0, 0),
		numbered(denied, unix.SYS_IO_URING_SETUP, 1, "here"),
		numbered(denied, unix.SYS_USERFAULTFD, 0),
		numbered(denied, unix.SYS_PERF_EVENT_OPEN, "here", 0, 0, 0, 0),
		numbered(denied, unix.SYS_OPEN_BY_HANDLE_AT, 0, "here", 0),
		numbered(denied, unix.SYS_PIDFD_GETFD, 0, 0, 0),
		numbered(denied, unix.SYS_KEXEC_LOAD, 0, 0, 0, 0),
		numbered(denied, unix.SYS_INIT_MODULE, 0, 0, "here"),
		numbered(denied, unix.SYS_IOCTL, 0, 0x5412, "here"),
		numbered(denied, unix.SYS_IOCTL, 0, uint64(1)<<32|0x5412, "here"), // of which the kernel uses the lower half
		numbered(denied, unix.SYS_PERSONALITY, 0x0400000),
		numbered(denied, unix.SYS_FCHMOD, 1, 0o4755),
		numbered(denied, unix.SYS_FCHMODAT, 1, "here", 0o2755, 0),
		numbered(denied, unix.SYS_OPENAT, 1, "here", unix.O_CREAT|unix.O_WRONLY, 0o4755),
		numbered(denied, unix.SYS_OPENAT, 1, "here", unix.O_TMPFILE|unix.O_RDWR, 0o2755),
		numbered("no such file", unix.SYS_OPENAT, 1000, "here", unix.O_RDONLY, 0o4755), // it makes no file, so that the mode does not count
		numbered("function not implemented", unix.SYS_OPENAT2, 1, "here", "here", 24),
		numbered(denied, unix.SYS_MKNODAT, 1, "here", unix.S_IFREG|0o4755, 0),
		numbered(denied, unix.SYS_FCNTL, 0, unix.F_SETLEASE, unix.F_RDLCK),
		numbered(denied, unix.SYS_FCNTL, 0, unix.F_NOTIFY, 1),
		numbered(denied, unix.SYS_INOTIFY_ADD_WATCH, 1, "here", unix.IN_ALL_EVENTS),
		numbered(denied, unix.SYS_INOTIFY_ADD_WATCH, 1, "here", unix.IN_OPEN),
		numbered("bad file descriptor", unix.SYS_INOTIFY_ADD_WATCH, 1000, "here", unix.IN_MODIFY|unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVE|unix.IN_ATTRIB),
		numbered("errno 0", unix.SYS_GETPID),
		numbered("errno 0", unix.SYS_PERSONALITY, 0xffffffff),
	})
	if !effective(t, shown, "syscalls") {
		t.Error("the layer is not shown")
	}
}

// The filter knows one table of system calls. In another table, the same numbers mean other calls.
func TestSystemCallsOfOtherTablesEndTheProcess(t *testing.T) {
	w := newWorld(t)
	w.cfg.Workspace = w.base
	if _, err := exec.LookPath("sh"); err != nil {
		t.Fatal(err)
	}
	if auditArchIsAMD64 {
		program := filepath.Join(w.base, "int80")
		if err := os.WriteFile(program, int80(), 0o755); err != nil {
			t.Fatal(err)
		}
		w.situation.Program = program
		out, _, err := w.start(t)
		if err != nil || len(out) != 1 || out[0] != "" {
			t.Errorf("it printed %q, %v; want it to be ended before it prints", out, err)
		}
	}
}

func TestRequiredFailsClosed(t *testing.T) {
	for _, layer := range []string{"files", "landlock"} {
		w := newWorld(t)
		w.cfg.Mode = sandbox.ModeRequired
		w.situation.Without[layer] = "the test does without"
		_, _, err := w.start(t, "status Seccomp")
		refused, ok := errors.AsType[*sandbox.RefusedError](err)
		if !ok || refused.Layer.Name != layer || !strings.Contains(err.Error(), "the test does without") {
			t.Errorf("without %s: %v", layer, err)
		}
	}
}

// A sandbox must leave nothing behind outside of it. Only mounts in this test's folders count:
// tests of other packages mount file systems at the same time.
func TestNothingIsLeft(t *testing.T) {
	w := newWorld(t)
	own := filepath.Dir(w.base) + "/"
	look := func() (mounts string, descriptors int) {
		text, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, own) {
				mounts += line
			}
		}
		return mounts, len(entries)
	}
	w.probe(t, "status Seccomp") // makes everything that is made once
	mounts, descriptors := look()
	for range 3 {
		w.probe(t, "write "+w.workspace+"/new")
	}
	nowMounts, nowDescriptors := look()
	if nowMounts != mounts {
		t.Errorf("mounts were\n%s\nand are\n%s", mounts, nowMounts)
	}
	if nowDescriptors != descriptors {
		t.Errorf("%d descriptors were open, and %d are", descriptors, nowDescriptors)
	}
	entries, err := os.ReadDir(w.situation.Stage)
	if err != nil || len(entries) != 0 {
		t.Errorf("in the folder of the new root are %v, %v", entries, err)
	}
}

// A path that becomes a link after it was looked at must not lead elsewhere, nor remove a layer.
func TestLinkThatIsPutInTheWayFailsTheLaunch(t *testing.T) {
	w := newWorld(t)
	granted := filepath.Join(w.workspace, "granted")
	if err := os.Mkdir(granted, 0o755); err != nil {
		t.Fatal(err)
	}
	w.cfg.WorkspaceAccess, w.cfg.Read = tool.AccessNone, []string{granted}
	plan, err := sandbox.New(w.cfg, w.situation)
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	if err := errors.Join(os.Remove(granted), os.Symlink(w.state, granted)); err != nil {
		t.Fatal(err)
	}
	_, err = run(t, plan, []string{"probe", "probe", "list " + granted})
	if _, fallsBack := errors.AsType[*sandbox.LayerError](err); err == nil || fallsBack {
		t.Errorf("Start = %v, want an error that is no missing layer", err)
	}
}

func TestProgramThatCannotBeExecutedIsReported(t *testing.T) {
	w := newWorld(t)
	w.situation.Program = filepath.Join(w.base, "file")
	if _, _, err := w.start(t); !errors.Is(err, syscall.EACCES) {
		t.Errorf("Start = %v, want %v", err, syscall.EACCES)
	}
}

// An ordinary user gets the same layers by a user namespace, or else by Landlock and seccomp.
func TestLayersOfAnOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("all tests are those of an ordinary user")
		return
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	program := filepath.Join(dir, "sandbox.test")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(program, data, 0o755)
	}
	if err := errors.Join(err, os.Chmod(dir, 0o755), os.Mkdir(dir+"/tmp", 0o700), os.Chown(dir+"/tmp", nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.shuffle=on")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir+"/tmp", "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// A layer that a process has had is not given up: by default, a plugin starts without a layer only
// if no process ever had it.
func TestLayersThatWereThereAreDemanded(t *testing.T) {
	w := newWorld(t)
	machine := &sandbox.Machine{}
	w.cfg.Mode, w.cfg.Machine = sandbox.ModeAuto, machine
	w.situation.Without["landlock"] = "the test does without"
	_, shown := w.probe(t, "read /etc/passwd")
	if shown.Mode != "on" {
		t.Errorf("with a layer missing from the beginning the mode is shown as %q", shown.Mode)
	}
	machine.Note(shown)
	if missing := machine.Missing(); !slices.Contains(missing, "landlock") {
		t.Errorf("%q are missing", missing)
	}
	delete(w.situation.Without, "landlock")
	_, shown = w.probe(t, "read /etc/passwd") // the earlier processes have more layers, which does no harm
	machine.Note(shown)
	if !effective(t, shown, "landlock") {
		return
	}
	w.situation.Without["landlock"] = "somebody used it up"
	if _, _, err := w.start(t, "read /etc/passwd"); err == nil || !strings.Contains(err.Error(), "somebody used it up") || !strings.Contains(err.Error(), "other plugins have") {
		t.Errorf("without a layer that was there: %v", err)
	}
	w.cfg.Mode = sandbox.ModeOn
	if _, _, err := w.start(t, "read /etc/passwd"); err != nil {
		t.Errorf("mode on goes without: %v", err)
	}
}

// TestLeastLayers checks that a process without the layers that it needs at least is not planned,
// also in a mode that takes what the machine gives.
func TestLeastLayers(t *testing.T) {
	for name, c := range map[string]struct {
		least   [][]string
		without []string
		refused string
	}{
		"nothing is needed": {nil, []string{sandbox.Syscalls}, ""},
		"needed and there":  {[][]string{{sandbox.Privileges}}, nil, ""},
		"one of a group":    {[][]string{{sandbox.Syscalls, sandbox.Privileges}}, []string{sandbox.Syscalls}, ""},
		"needed":            {[][]string{{sandbox.Privileges}, {sandbox.Syscalls}}, []string{sandbox.Syscalls}, "syscalls"},
		"a whole group":     {[][]string{{sandbox.Files, sandbox.Landlock}}, []string{sandbox.Files, sandbox.Landlock}, "files or landlock"},
		"an unknown one":    {[][]string{{"walls"}}, nil, "walls"},
	} {
		w := newWorld(t)
		w.cfg.Mode, w.cfg.Least = sandbox.ModeOn, c.least
		for _, layer := range c.without {
			w.situation.Without[layer] = "the test does without"
		}
		plan, err := sandbox.New(w.cfg, w.situation)
		if plan != nil {
			plan.Close()
		}
		refused, _ := errors.AsType[*sandbox.RefusedError](err)
		if c.refused == "" && err != nil || c.refused != "" && (refused == nil || refused.Layer.Name != c.refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
