//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// writeNamespaces adds the calls that leave toolhost's namespaces. Without privileges, the process
// first makes a user namespace, in which it is the same user and has the privileges.
func writeNamespaces(c *callList, m *mechanisms) {
	network, ipc := m.byNamespace(Network), m.byNamespace(IPC)
	if m.makesUserNamespace() {
		writeUserNamespace(c)
	}
	if network && !m.situation.Beside {
		c.call(step{layer: Network, what: "making a network namespace", optional: true}, unix.SYS_UNSHARE, unix.CLONE_NEWNET)
	}
	if network {
		writeLoopback(c)
	}
	if ipc && !m.situation.Beside {
		c.call(step{layer: IPC, what: "making an IPC namespace", optional: true}, unix.SYS_UNSHARE, unix.CLONE_NEWIPC)
	}
}

func writeUserNamespace(c *callList) {
	at := step{layer: namespaces, what: "making a user namespace", optional: true}
	c.call(at, unix.SYS_UNSHARE, unix.CLONE_NEWUSER)
	for _, file := range []struct{ path, text string }{
		{"/proc/self/setgroups", "deny"},
		{"/proc/self/uid_map", fmt.Sprintf("%d %[1]d 1", os.Geteuid())},
		{"/proc/self/gid_map", fmt.Sprintf("%d %[1]d 1", os.Getegid())},
	} {
		c.call(at, unix.SYS_OPENAT, currentFolder, c.program.Text(file.path), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		c.call(at, unix.SYS_WRITE, firstFD, c.program.Text(file.text), uint64(len(file.text)))
		c.call(at, unix.SYS_CLOSE, firstFD)
	}
}

// writeLoopback adds the calls that enable the loopback of a new network namespace.
func writeLoopback(c *callList) {
	at := step{layer: Network, what: "switching its loopback on", optional: true}
	request := make([]byte, 40) // struct ifreq
	copy(request, "lo")
	request[unix.IFNAMSIZ] = unix.IFF_UP | unix.IFF_RUNNING
	c.call(at, unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	c.call(at, unix.SYS_IOCTL, firstFD, unix.SIOCSIFFLAGS, c.program.Bytes(request))
	c.call(at, unix.SYS_CLOSE, firstFD)
}

// writePrivileges adds the calls that drop all capabilities, also those that a program file could
// restore.
func writePrivileges(c *callList, m *mechanisms) {
	at := step{layer: Privileges, what: "giving up capabilities"}
	if m.makesUserNamespace() || m.caps&(1<<unix.CAP_SETPCAP) != 0 {
		for capability := range lastCapability() + 1 {
			c.call(at, unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, uint64(capability), 0, 0, 0)
		}
	}
	c.call(at, unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := c.program.Words(unix.LINUX_CAPABILITY_VERSION_3)
	c.call(at, unix.SYS_CAPSET, header, c.program.Bytes(make([]byte, 24)))
}

// lastCapability returns the highest capability that the kernel knows.
func lastCapability() int {
	text, err := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	if err == nil {
		if last, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && last < 64 {
			return last
		}
	}
	return unix.CAP_LAST_CAP
}
