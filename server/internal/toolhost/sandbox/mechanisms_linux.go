//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/tool"
)

// procMount is the key, in Situation.Without, of a /proc that shows only the process's own
// processes.
const procMount = "proc"

// mechanisms says by which mechanisms of the kernel one sandbox is set up. Both the layers that a
// Plan shows and the system calls that it lists follow from the mechanisms. If only one of the two
// took a decision into account, Plan.Sandbox could report a layer that the process does not have.
type mechanisms struct {
	cfg       Config
	situation Situation

	all     bool   // the whole file system was granted: the layer Files would confine nothing
	caps    uint64 // toolhost's own capabilities
	mounts  bool   // whether the process gets its own file system
	abi     int    // the version of Landlock; 0: none
	seccomp bool   // whether a filter of system calls is installed
}

// choose decides by which mechanisms the sandbox is set up. It looks at the kernel.
func choose(cfg Config, s Situation, v *view) *mechanisms {
	m := &mechanisms{cfg: cfg, situation: s, caps: ownCapabilities()}
	_, m.all = v.items["/"]
	m.mounts = !m.all && s.Without[Files] == "" && s.Without[namespaces] == ""
	if s.Without[Landlock] == "" {
		m.abi = landlockVersion()
	}
	m.seccomp = hasSeccomp() && s.Without[Syscalls] == ""
	return m
}

// layers returns the layers, effective or not, in the order in which they are shown.
func (m *mechanisms) layers(l layout) []tool.SandboxLayer {
	layers := []tool.SandboxLayer{m.files(), m.landlock(l)}
	if !m.cfg.Network {
		layers = append(layers, m.separated(Network, "network namespace", "sockets of the network"))
	}
	return append(layers,
		m.pid(),
		m.separated(IPC, "IPC namespace", "shared memory, semaphores and queues"),
		tool.SandboxLayer{Name: Privileges, Effective: true, Mechanism: "no_new_privs, no capabilities"},
		m.syscalls(),
	)
}

func (m *mechanisms) files() tool.SandboxLayer {
	switch without := m.situation.Without; {
	case m.mounts:
		return tool.SandboxLayer{Name: Files, Effective: true, Mechanism: "mount namespace"}
	case m.all:
		return tool.SandboxLayer{Name: Files, Note: "the whole file system was granted"}
	default:
		return tool.SandboxLayer{Name: Files, Note: orElse(without[Files], without[namespaces])}
	}
}

func (m *mechanisms) landlock(l layout) tool.SandboxLayer {
	if m.abi == 0 {
		return tool.SandboxLayer{Name: Landlock, Note: orElse(m.situation.Without[Landlock], "this kernel has no Landlock, or does not use it")}
	}
	w := tool.SandboxLayer{Name: Landlock, Effective: true, Mechanism: fmt.Sprintf("landlock %d", m.abi)}
	if m.abi < scopedSince {
		w.Note = "this kernel's Landlock does not keep signals and abstract sockets apart; version 6 does"
	}
	if roots := l.carvedRoots(tool.AccessWrite); !m.mounts && len(roots) > 0 {
		w.Note = strings.TrimPrefix(w.Note+"; ", "; ") + "in a folder that holds files of toolhost's own, only the other files and folders " +
			"that are there now are granted, and no new ones can be made beside them: " + strings.Join(roots, ", ")
	}
	return w
}

// separated returns a layer that is made of a namespace, or else of a filter of system calls.
func (m *mechanisms) separated(name, mechanism, what string) tool.SandboxLayer {
	why := orElse(m.situation.Without[name], m.situation.Without[namespaces])
	switch {
	case why == "":
		return tool.SandboxLayer{Name: name, Effective: true, Mechanism: mechanism}
	case m.seccomp:
		return tool.SandboxLayer{Name: name, Effective: true, Mechanism: "seccomp", Note: what + " are refused; no " + mechanism + ": " + why}
	}
	return tool.SandboxLayer{Name: name, Note: why}
}

func (m *mechanisms) pid() tool.SandboxLayer {
	s := m.situation
	switch {
	case s.PIDNamespace:
		return tool.SandboxLayer{Name: PID, Effective: true, Mechanism: "PID namespace"}
	case m.abi >= scopedSince && m.ownProc():
		return tool.SandboxLayer{Name: PID, Effective: true, Mechanism: "landlock, hidden in /proc", Note: "a process that guesses the pid of another one can slow it (priority, processors); no PID namespace: " + s.NoPIDNamespace}
	case m.abi >= scopedSince:
		return tool.SandboxLayer{
			Name: PID, Effective: true, Mechanism: "landlock",
			Note: "others can be seen, and slowed (priority, processors), but neither signalled nor looked into; no PID namespace: " + s.NoPIDNamespace,
		}
	}
	return tool.SandboxLayer{Name: PID, Note: s.NoPIDNamespace}
}

func (m *mechanisms) syscalls() tool.SandboxLayer {
	if !m.seccomp {
		return tool.SandboxLayer{Name: Syscalls, Note: orElse(m.situation.Without[Syscalls], "this kernel does not filter system calls")}
	}
	return tool.SandboxLayer{Name: Syscalls, Effective: true, Mechanism: "seccomp"}
}

// ownProc reports whether the process gets its own /proc without a PID namespace. It shows only
// processes that the process may trace.
func (m *mechanisms) ownProc() bool {
	return !m.situation.PIDNamespace && m.mounts && !m.userNamespace() && m.situation.Without[procMount] == ""
}

// userNamespace reports whether the other namespaces need a user namespace first.
func (m *mechanisms) userNamespace() bool { return m.caps&(1<<unix.CAP_SYS_ADMIN) == 0 }

// makesUserNamespace reports whether the process makes a user namespace: it needs one, and makes at
// least one other namespace.
func (m *mechanisms) makesUserNamespace() bool {
	return m.userNamespace() && (m.mounts || m.byNamespace(Network) || m.byNamespace(IPC))
}

// byNamespace reports whether a namespace separates the network or IPC.
func (m *mechanisms) byNamespace(name string) bool {
	return slices.Contains(m.cfg.Separate(m.situation.Without), name)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// ownCapabilities returns the effective capabilities of the calling thread.
func ownCapabilities() uint64 {
	var data [2]unix.CapUserData
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&header, &data[0]); err != nil {
		return 0
	}
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective)
}

// hasSeccomp reports whether the kernel supports seccomp filters.
func hasSeccomp() bool {
	const getActionAvailable = 2 // SECCOMP_GET_ACTION_AVAIL
	action := uint32(retErrno)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, getActionAvailable, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}
