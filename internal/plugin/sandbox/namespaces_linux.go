//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// writeNamespaces adds the calls that leave toolhost's namespaces. Without privileges, the process
// first makes a user namespace, in which it is the same user and has the privileges.
func (p *Plan) writeNamespaces() {
	network, ipc := p.byNamespace(Network), p.byNamespace(IPC)
	if p.userNamespace() && (p.mounts || network || ipc) {
		p.writeUserNamespace()
	}
	if network && !p.situation.Beside {
		p.call(step{layer: Network, what: "making a network namespace", optional: true}, unix.SYS_UNSHARE, unix.CLONE_NEWNET)
	}
	if network {
		p.writeLoopback()
	}
	if ipc && !p.situation.Beside {
		p.call(step{layer: IPC, what: "making an IPC namespace", optional: true}, unix.SYS_UNSHARE, unix.CLONE_NEWIPC)
	}
}

func (p *Plan) writeUserNamespace() {
	at := step{layer: namespaces, what: "making a user namespace", optional: true}
	p.call(at, unix.SYS_UNSHARE, unix.CLONE_NEWUSER)
	for _, file := range []struct{ path, text string }{
		{"/proc/self/setgroups", "deny"},
		{"/proc/self/uid_map", fmt.Sprintf("%d %[1]d 1", os.Geteuid())},
		{"/proc/self/gid_map", fmt.Sprintf("%d %[1]d 1", os.Getegid())},
	} {
		p.call(at, unix.SYS_OPENAT, currentFolder, p.program.Text(file.path), unix.O_WRONLY|unix.O_CLOEXEC, 0)
		p.call(at, unix.SYS_WRITE, firstFD, p.program.Text(file.text), uint64(len(file.text)))
		p.call(at, unix.SYS_CLOSE, firstFD)
	}
}

// writeLoopback adds the calls that enable the loopback of a new network namespace.
func (p *Plan) writeLoopback() {
	at := step{layer: Network, what: "switching its loopback on", optional: true}
	request := make([]byte, 40) // struct ifreq
	copy(request, "lo")
	request[unix.IFNAMSIZ] = unix.IFF_UP | unix.IFF_RUNNING
	p.call(at, unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	p.call(at, unix.SYS_IOCTL, firstFD, unix.SIOCSIFFLAGS, p.program.Bytes(request))
	p.call(at, unix.SYS_CLOSE, firstFD)
}

// writePrivileges adds the calls that drop all capabilities, also those that a program file could
// restore.
func (p *Plan) writePrivileges() {
	at := step{layer: Privileges, what: "giving up capabilities"}
	namespaced := p.userNamespace() && (p.mounts || p.byNamespace(Network) || p.byNamespace(IPC))
	if namespaced || p.caps&(1<<unix.CAP_SETPCAP) != 0 {
		for capability := range lastCapability() + 1 {
			p.call(at, unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, uint64(capability), 0, 0, 0)
		}
	}
	p.call(at, unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := p.program.Words(unix.LINUX_CAPABILITY_VERSION_3)
	p.call(at, unix.SYS_CAPSET, header, p.program.Bytes(make([]byte, 24)))
}

// byNamespace reports whether a namespace separates the network or IPC.
func (p *Plan) byNamespace(name string) bool {
	return slices.Contains(p.cfg.Separate(p.situation.Without), name)
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
