//go:build linux && (amd64 || arm64)

package escape_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// calling returns an attempt to make a system call, with arguments in the escapeplugin's form.
func calling(name string, layers []string, number int, arguments ...string) attempt {
	return attempt{name: name, do: "call", with: append([]string{n(number)}, arguments...), layers: layers}
}

// processes are attempts to see, signal and inspect other processes. The signals have no effect on
// processes that do not handle them, so that a success harms only the test.
func (h *toolhost) processes(t *testing.T) []attempt {
	toolhost, victim, neighbour := n(h.cmd.Process.Pid), n(h.victim.Process.Pid), n(h.neighbour)
	wink, none := n(int(harmless)), "0"
	signalling := func(name, pid, signal string) attempt {
		return attempt{name: name, do: "signal", with: []string{pid, signal}, layers: byPID}
	}
	slowing := func(name string, number int, arguments ...string) attempt {
		a := calling(name, byPID, number, arguments...)
		a.note = "slowed"
		return a
	}
	becoming := func(name string, number int, arguments ...string) attempt {
		a := calling(name, byRights, number, arguments...)
		a.refusal = unix.EINVAL // a user namespace has no other users
		return a
	}
	seeing := calling("handle on toolhost", byPID, unix.SYS_PIDFD_OPEN, toolhost, "0")
	seeing.note = "others can be"
	return []attempt{
		seeing,
		signalling("signal to toolhost", toolhost, none),
		signalling("signal to another process", victim, none),
		signalling("signal to another plugin", neighbour, none),
		signalling("signal to the test", n(os.Getpid()), wink),
		signalling("signal to the group of another process", "-"+victim, none),
		{name: "signal to the first process", do: "signal", with: []string{"1", none}, layers: byPID, harmless: h.own(t, "sent")},
		{name: "signal to all", do: "signal", with: []string{"-1", wink}, layers: byPID, harmless: "sent"}, // the victim reports it in the end
		calling("signal to a thread of toolhost", byPID, unix.SYS_TGKILL, toolhost, toolhost, none),
		calling("queued signal to toolhost", byPID, unix.SYS_RT_SIGQUEUEINFO, toolhost, wink, "here"),
		calling("ptrace of toolhost", byCalls, unix.SYS_PTRACE, n(unix.PTRACE_SEIZE), toolhost, "0", "-1"),
		calling("memory of toolhost", byCalls, unix.SYS_PROCESS_VM_READV, toolhost, "here", "1", "here", "1", "0"),
		calling("writing to the memory of toolhost", byCalls, unix.SYS_PROCESS_VM_WRITEV, toolhost, "here", "1", "here", "1", "0"),
		calling("advice on the memory of toolhost", byCalls, unix.SYS_PROCESS_MADVISE, "0", "here", "1", "4", "0"),
		calling("descriptors of toolhost", byCalls, unix.SYS_PIDFD_GETFD, "0", "0", "0"),
		calling("comparison with toolhost", byCalls, unix.SYS_KCMP, n(os.Getpid()), toolhost, "0", "0", "0"),
		calling("limits of toolhost", byPID, unix.SYS_PRLIMIT64, toolhost, n(unix.RLIMIT_NOFILE), "0", "here"),
		calling("new limits of another process", byPID, unix.SYS_PRLIMIT64, victim, n(unix.RLIMIT_CORE), "here", "0"),
		slowing("priority of another process", unix.SYS_SETPRIORITY, "0", victim, "1"),
		slowing("processors of another process", unix.SYS_SCHED_SETAFFINITY, victim, "8", "here"),
		slowing("scheduler of another process", unix.SYS_SCHED_SETSCHEDULER, victim, "3", "here"),
		slowing("priority of a disk of another process", unix.SYS_IOPRIO_SET, "1", victim, n(2<<13|7)),
		calling("pages of another process", byCalls, unix.SYS_MOVE_PAGES, victim, "0", "here", "0", "here", "0"),
		{name: "user of root", do: "run", with: []string{"/bin/sh", "-c", "setpriv --reuid=12345 --clear-groups id -u"}, layers: byRights},
		becoming("another user", unix.SYS_SETUID, "12345"),
		becoming("another group", unix.SYS_SETGID, "12345"),
		becoming("other groups", unix.SYS_SETGROUPS, "1", "here"),
		calling("another root of the file system", byCalls, unix.SYS_CHROOT, "text:/"),
		calling("capabilities", byRights, unix.SYS_CAPSET, "here:0x20080522", "here:0xff"),
		{name: "privileges of a program with the set-user bit", do: "run", with: []string{"/bin/sh", "-c", h.suid()}, layers: byRights, harmless: "NoNewPrivs:\t1", unless: "CapEff:\t0000003"},
	}
}

// own returns the part of an answer that is harmless where the first process belongs to the
// plugin's own PID namespace; "" elsewhere.
func (h *toolhost) own(t *testing.T, answer string) string {
	if layer := h.layer(t, "escapeplugin", sandbox.PID); layer.Mechanism == "PID namespace" {
		return answer
	}
	return ""
}

// suid is a shell command that copies a program into the workspace, sets its set-user-ID bit, and
// runs it.
func (h *toolhost) suid() string {
	program := filepath.Join(h.path("work/inside"), "program-"+strconv.Itoa(h.uid))
	return "cp /bin/cat " + program + "; chmod 4755 " + program + " 2>/dev/null; " + program + " /proc/self/status; rm -f " + program
}

// kernel are attempts to use parts of the kernel that plugins do not need. Attempts that would harm
// the machine have arguments that the kernel refuses (wrong magic numbers, unknown flags, an
// unknown file system, an unmapped address). Without the layers, such a call returns another error.
func kernel() []attempt {
	here, zero := "here", "0"
	return append([]attempt{
		calling("mount", byCalls, unix.SYS_MOUNT, "text:none", "text:/tmp", "text:nosuchfs", zero, zero),
		calling("unmount", byCalls, unix.SYS_UMOUNT2, "text:/proc", n(0xffff)),
		calling("new root by pivot", byCalls, unix.SYS_PIVOT_ROOT, zero, zero),
		calling("tree of mounts", byCalls, unix.SYS_OPEN_TREE, n(unix.AT_FDCWD), "text:/", n(unix.OPEN_TREE_CLONE)),
		calling("moving a mount", byCalls, unix.SYS_MOVE_MOUNT, zero, here, zero, here, zero),
		calling("file system of its own", byCalls, unix.SYS_FSOPEN, "text:tmpfs", zero),
		calling("attributes of a mount", byCalls, unix.SYS_MOUNT_SETATTR, n(unix.AT_FDCWD), "text:/usr", zero, here, "32"),
		calling("user namespace", byCalls, unix.SYS_UNSHARE, n(unix.CLONE_NEWUSER)),
		calling("mount namespace", byCalls, unix.SYS_UNSHARE, n(unix.CLONE_NEWNS)),
		calling("time namespace", byCalls, unix.SYS_UNSHARE, n(unix.CLONE_NEWTIME)),
		calling("user namespace by clone", byCalls, unix.SYS_CLONE, n(unix.CLONE_NEWUSER|int(unix.SIGCHLD)), zero, zero, zero, zero),
		calling("user namespace by clone3", byCalls, unix.SYS_CLONE3, here, "88"),
		calling("namespace of another process", byCalls, unix.SYS_SETNS, zero, zero),
		calling("handle of a file", byCalls, unix.SYS_NAME_TO_HANDLE_AT, n(unix.AT_FDCWD), "text:/", here, here, zero),
		calling("file by its handle", byCalls, unix.SYS_OPEN_BY_HANDLE_AT, n(unix.AT_FDCWD), here, zero),
		calling("watching who executes programs", byCalls, unix.SYS_INOTIFY_ADD_WATCH, "-1", "text:/usr/bin", n(unix.IN_OPEN|unix.IN_ACCESS)),
		calling("lease on a file that it may read", byCalls, unix.SYS_FCNTL, "0", n(unix.F_SETLEASE), zero),
		calling("notice of what is read in a folder", byCalls, unix.SYS_FCNTL, "0", n(unix.F_NOTIFY), "1"),
		calling("empty file that lends its owner's rights", byCalls, unix.SYS_OPENAT, "-1", "text:empty", n(unix.O_CREAT|unix.O_WRONLY), n(0o4755)),
		calling("node that lends its owner's rights", byCalls, unix.SYS_MKNODAT, "-1", "text:empty", n(unix.S_IFREG|0o4755), zero),
		calling("file by a call whose mode is out of sight", byCalls, unix.SYS_OPENAT2, "-1", "text:empty", here, "24"),
		calling("watching a file system", byCalls, unix.SYS_FANOTIFY_INIT, zero, zero),
		calling("programs in the kernel", byCalls, unix.SYS_BPF, zero, here, "64"),
		calling("counters of the processor", byCalls, unix.SYS_PERF_EVENT_OPEN, here, zero, "-1", "-1", zero),
		calling("page faults", byCalls, unix.SYS_USERFAULTFD, "1"),
		calling("keys of the session", byCalls, unix.SYS_KEYCTL, zero, "-3", zero),
		calling("key of its own", byCalls, unix.SYS_ADD_KEY, zero, zero, zero, zero, "-3"),
		calling("asking for a key", byCalls, unix.SYS_REQUEST_KEY, zero, zero, zero, "-3"),
		calling("queue of system calls", byCalls, unix.SYS_IO_URING_SETUP, "1", here),
		calling("module", byCalls, unix.SYS_INIT_MODULE, here, zero, "text:"),
		calling("module of a file", byCalls, unix.SYS_FINIT_MODULE, "-1", "text:", zero),
		calling("removing a module", byCalls, unix.SYS_DELETE_MODULE, zero, zero),
		calling("another kernel", byCalls, unix.SYS_KEXEC_LOAD, zero, zero, zero, n(0xffff)),
		calling("reboot", byCalls, unix.SYS_REBOOT, zero, zero, zero, zero),
		calling("swap", byCalls, unix.SYS_SWAPON, zero, zero),
		calling("end of swap", byCalls, unix.SYS_SWAPOFF, zero),
		calling("accounting", byCalls, unix.SYS_ACCT, "1"),
		calling("quota", byCalls, unix.SYS_QUOTACTL, zero, zero, zero, zero),
		calling("time", byCalls, unix.SYS_SETTIMEOFDAY, zero, zero),
		calling("time of a clock", byCalls, unix.SYS_CLOCK_SETTIME, n(unix.CLOCK_MONOTONIC), here),
		calling("adjusting a clock", byRights, unix.SYS_ADJTIMEX, "here:0x4000"),
		calling("name of the host", byCalls, unix.SYS_SETHOSTNAME, here, "1000"),
		calling("log of the kernel", byCalls, unix.SYS_SYSLOG, "3", here, "64"),
		calling("randomness of addresses", byCalls, unix.SYS_PERSONALITY, n(0x0040000)),
		calling("typing into a terminal", byCalls, unix.SYS_IOCTL, zero, n(unix.TIOCSTI), here),
		calling("typing into a terminal, by other bits", byCalls, unix.SYS_IOCTL, zero, n(1<<32|unix.TIOCSTI), here),
		calling("pasting into a console", byCalls, unix.SYS_IOCTL, zero, n(unix.TIOCLINUX), here),
		calling("system call that is not known", byCalls, 1000),
		calling("shared memory of the host", byIPC, unix.SYS_SHMGET, n(shmKey), zero, zero),
	}, otherTables()...)
}
