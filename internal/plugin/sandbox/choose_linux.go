//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/tool"
)

// procMount stands for a /proc that shows only the process's own processes, in Situation.Without.
const procMount = "proc"

// look finds out what the process will see.
func (p *Plan) look() error {
	v := newView()
	if err := v.grant(p.cfg); err != nil {
		return err
	}
	for _, path := range p.situation.Own {
		if err := v.reveal(path, tool.AccessWrite); err != nil {
			return fmt.Errorf("granting it its own folder: %w", err)
		}
	}
	for _, paths := range [][]string{systemFolders[:], systemFiles[:], systemMatches()} {
		if err := v.revealAny(paths, tool.AccessRead); err != nil {
			return fmt.Errorf("granting it the system's libraries: %w", err)
		}
	}
	installed, err := p.lookAtCode(v)
	if err != nil {
		return err
	}
	p.lookAtMemory(v)
	if err := v.shieldAll(p.cfg); err != nil {
		return err
	}
	p.view, p.layout = v, v.layout()
	p.shown = tool.Sandbox{
		Mode: string(p.cfg.Mode), Network: p.cfg.Network, Workspace: p.cfg.access(),
		Read: append(append([]string(nil), p.cfg.Read...), installed...), Write: append([]string(nil), p.cfg.Write...),
	}
	return nil
}

// systemMatches returns the existing files of the system's patterns.
func systemMatches() []string {
	var found []string
	for _, pattern := range systemPatterns {
		matches, _ := filepath.Glob(pattern) // it fails only for a malformed pattern
		found = append(found, matches...)
	}
	return found
}

// access returns the access to the workspace.
func (c Config) access() tool.Access {
	if c.Workspace == "" || c.WorkspaceAccess == "" {
		return tool.AccessNone
	}
	return c.WorkspaceAccess
}

// lookAtCode makes the program visible, with what it needs to run.
func (p *Plan) lookAtCode(v *view) (installed []string, err error) {
	s := p.situation
	code := []string{s.Program}
	if s.Folder != "" {
		code = append(code, s.Folder)
	}
	never := append(append([]string{p.cfg.Workspace}, p.cfg.Hidden...), s.Own...)
	for _, place := range installations(s.Program, never) {
		if s.Folder == "" || !within(place, s.Folder) {
			installed = append(installed, place)
		}
	}
	for _, path := range append(code, installed...) {
		if err := v.reveal(path, tool.AccessRead); err != nil {
			return nil, fmt.Errorf("granting it its program: %w", err)
		}
	}
	return installed, nil
}

// lookAtMemory adds the items that are on no disk.
func (p *Plan) lookAtMemory(v *view) {
	add := func(it item) {
		if _, granted := v.items[it.path]; !granted {
			v.items[it.path] = it
		}
	}
	add(item{path: "/proc", kind: processes, access: tool.AccessRead, folder: true})
	for _, path := range devices {
		add(item{path: path, kind: device, access: tool.AccessWrite})
	}
	for path, target := range deviceLinks {
		v.links[path] = target
	}
	for _, path := range []string{"/tmp", "/dev/shm"} {
		if outer, ok := around(v.items, path); !ok || outer.kind != bound {
			add(item{path: path, kind: scratch, access: tool.AccessWrite, folder: true})
		}
	}
	for _, path := range maskedProc {
		if exists(path) {
			add(item{path: path, kind: nothing, access: tool.AccessRead, exact: true})
		}
	}
	for _, path := range maskedSystem {
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			add(item{path: path, kind: nothing, access: tool.AccessRead, folder: true, exact: true})
		}
	}
}

func exists(path string) bool {
	var stat unix.Stat_t
	return unix.Lstat(path, &stat) == nil
}

// choose decides which layers the sandbox has, and by which mechanisms.
func (p *Plan) choose() {
	p.caps = ownCapabilities()
	without := p.situation.Without
	p.namespace = without[namespaces] == ""
	if p.abi = landlockVersion(); without[Landlock] != "" {
		p.abi = 0
	}
	p.seccomp = hasSeccomp() && without[Syscalls] == ""
	files := p.chooseFiles()
	p.mounts = files.Effective
	p.layer(files)
	p.layer(p.chooseLandlock())
	if !p.cfg.Network {
		p.layer(p.separated(Network, "network namespace", "sockets of the network"))
	}
	p.layer(p.choosePID())
	p.layer(p.separated(IPC, "IPC namespace", "shared memory, semaphores and queues"))
	p.layer(tool.SandboxLayer{Name: Privileges, Effective: true, Mechanism: "no_new_privs, no capabilities"})
	syscalls := tool.SandboxLayer{Name: Syscalls, Effective: p.seccomp, Mechanism: "seccomp"}
	if !p.seccomp {
		syscalls.Note = orElse(without[Syscalls], "this kernel does not filter system calls")
	}
	p.layer(syscalls)
}

func (p *Plan) layer(w tool.SandboxLayer) {
	if !w.Effective {
		w.Mechanism = ""
	}
	p.shown.Layers = append(p.shown.Layers, w)
}

func (p *Plan) chooseFiles() tool.SandboxLayer {
	w := tool.SandboxLayer{Name: Files, Mechanism: "mount namespace"}
	_, all := p.view.items["/"]
	switch without := p.situation.Without; {
	case all:
		w.Note = "the whole file system was granted"
	case without[Files] != "":
		w.Note = without[Files]
	case !p.namespace:
		w.Note = without[namespaces]
	default:
		w.Effective = true
	}
	return w
}

func (p *Plan) chooseLandlock() tool.SandboxLayer {
	w := tool.SandboxLayer{Name: Landlock, Effective: p.abi > 0, Mechanism: fmt.Sprintf("landlock %d", p.abi)}
	switch {
	case !w.Effective:
		w.Note = orElse(p.situation.Without[Landlock], "this kernel has no Landlock, or does not use it")
	case p.abi < scopedSince:
		w.Note = "this kernel's Landlock does not keep signals and abstract sockets apart; version 6 does"
	}
	if roots := p.carvedRoots(tool.AccessWrite); !p.mounts && w.Effective && len(roots) > 0 {
		w.Note = strings.TrimPrefix(w.Note+"; ", "; ") + "in a folder that holds files of toolhost's own, only the other files and folders " +
			"that are there now are granted, and no new ones can be made beside them: " + strings.Join(roots, ", ")
	}
	return w
}

// separated returns a layer that is made of a namespace, or else of a filter of system calls.
func (p *Plan) separated(name, mechanism, what string) tool.SandboxLayer {
	why := orElse(p.situation.Without[name], p.situation.Without[namespaces])
	switch {
	case why == "":
		return tool.SandboxLayer{Name: name, Effective: true, Mechanism: mechanism}
	case p.seccomp:
		return tool.SandboxLayer{Name: name, Effective: true, Mechanism: "seccomp", Note: what + " are refused; no " + mechanism + ": " + why}
	}
	return tool.SandboxLayer{Name: name, Note: why}
}

func (p *Plan) choosePID() tool.SandboxLayer {
	s := p.situation
	switch {
	case s.PIDNamespace:
		return tool.SandboxLayer{Name: PID, Effective: true, Mechanism: "PID namespace"}
	case p.abi >= scopedSince && p.ownProc():
		return tool.SandboxLayer{Name: PID, Effective: true, Mechanism: "landlock, hidden in /proc", Note: "a process that guesses the pid of another one can slow it (priority, processors); no PID namespace: " + s.NoPIDNamespace}
	case p.abi >= scopedSince:
		return tool.SandboxLayer{
			Name: PID, Effective: true, Mechanism: "landlock",
			Note: "others can be seen, and slowed (priority, processors), but neither signalled nor looked into; no PID namespace: " + s.NoPIDNamespace,
		}
	}
	return tool.SandboxLayer{Name: PID, Note: s.NoPIDNamespace}
}

// ownProc reports whether the process gets its own /proc without a PID namespace. It shows only
// processes that the process may trace.
func (p *Plan) ownProc() bool {
	return !p.situation.PIDNamespace && p.mounts && !p.userNamespace() && p.situation.Without[procMount] == ""
}

// userNamespace reports whether the other namespaces need a user namespace first.
func (p *Plan) userNamespace() bool { return p.caps&(1<<unix.CAP_SYS_ADMIN) == 0 }

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
