//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"maps"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// What a filter answers.
const (
	retKill  = 0x80000000 // SECCOMP_RET_KILL_PROCESS
	retErrno = 0x00050000 // SECCOMP_RET_ERRNO, with the error in the lower half
	retAllow = 0x7fff0000 // SECCOMP_RET_ALLOW
)

// Where the kernel puts what a filter looks at: struct seccomp_data. Of arguments it is the lower half, which is all that
// the kernel takes of those that are looked at here.
const (
	atNumber    = 0
	atArch      = 4
	atArguments = 16
)

// newest is the last system call that this filter knows. What comes later is refused as what this kernel does not have, so
// that programs do without: it may be as powerful as those that are denied.
const newest = 469 // file_setattr

// denied are the system calls that are refused whatever their arguments are: those that change what a process sees or is, that
// look into others, that reach hardware or the kernel, or that do what others do past the filter.
var denied = []uint32{
	// Mounts, roots, namespaces.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, 467, // open_tree_attr
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT,
	// Files by what a mount would have to show.
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	// The kernel.
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	// What makes other calls without being seen.
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// ipc are the system calls by which processes share memory and the like without a file.
var ipc = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// newNamespaces are the flags of clone that make namespaces; of those for time, clone has none.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Requests of ioctl by which a process types into its terminal, or reaches the machine's console.
const (
	tiocsti   = 0x5412
	tioclinux = 0x541c
	tiocsetd  = 0x5423
)

// privilegedModes are the modes with which a file lends the rights of its owner to whoever executes it, also outside of the
// sandbox.
const privilegedModes = unix.S_ISUID | unix.S_ISGID

// makesFile are the flags of open with which it makes a file, whose mode then counts: O_CREAT, and what O_TMPFILE has of its own.
const makesFile = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// Commands of fcntl by which a process hears of what others do with a file that it can only read, and holds them up.
const (
	setLease      = unix.F_SETLEASE
	notify        = unix.F_NOTIFY
	setDelegation = 1024 + 16 // F_SETDELEG
)

// readEvents are the events of inotify that tell of others' reading and executing. A watch of a system's folder would tell which
// programs the machine's other users run: the filter cannot see which folder is watched. Changes can be watched.
const readEvents = unix.IN_ACCESS | unix.IN_OPEN | unix.IN_CLOSE_NOWRITE

// writeFilter installs the filter. No other call comes after it but the execution of the program.
func (p *Plan) writeFilter() {
	at := step{layer: Syscalls, what: "filtering its system calls", optional: true}
	code, err := bpf.Assemble(p.filter())
	if err != nil {
		panic("sandbox: " + err.Error()) // all skips are constants
	}
	var text []byte
	for _, i := range code { // struct sock_filter
		text = binary.NativeEndian.AppendUint16(text, i.Op)
		text = append(text, i.Jt, i.Jf)
		text = binary.NativeEndian.AppendUint32(text, i.K)
	}
	const setModeFilter = 1                                            // SECCOMP_SET_MODE_FILTER
	fprog := p.program.Words(uint64(len(code)), p.program.Bytes(text)) // struct sock_fprog
	p.call(at, unix.SYS_SECCOMP, setModeFilter, 0, fprog)
}

// filter returns the program that decides about each system call.
func (p *Plan) filter() []bpf.Instruction {
	f := &filter{}
	f.add(bpf.LoadAbsolute{Off: atArch, Size: 4})
	f.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1}, bpf.RetConstant{Val: retKill}) // numbers mean something else
	f.add(bpf.LoadAbsolute{Off: atNumber, Size: 4})
	// Numbers of other tables, x32 for one, are above all of this one.
	f.when(bpf.JumpGreaterThan, newest, refuse(unix.ENOSYS))
	f.equals(refuse(unix.ENOSYS), unix.SYS_CLONE3, unix.SYS_OPENAT2) // their flags cannot be looked at; all fall back to clone and openat
	f.equals(refuse(unix.EPERM), denied...)
	f.equals(refuse(unix.EPERM), deniedHere...)
	if !p.byNamespace(IPC) {
		f.equals(refuse(unix.EPERM), ipc...)
	}
	f.argument(unix.SYS_CLONE, 0, func(f *filter) { f.when(bpf.JumpBitsSet, newNamespaces, refuse(unix.EPERM)) })
	f.argument(unix.SYS_IOCTL, 1, func(f *filter) { f.equals(refuse(unix.EPERM), tiocsti, tioclinux, tiocsetd) })
	modes := modeArguments()
	for _, number := range slices.Sorted(maps.Keys(modes)) { // always in the same order, so that plans can be compared
		f.argument(number, modes[number], func(f *filter) { f.when(bpf.JumpBitsSet, privilegedModes, refuse(unix.EPERM)) })
	}
	opens := openArguments()
	for _, number := range slices.Sorted(maps.Keys(opens)) {
		f.made(number, opens[number])
	}
	f.argument(unix.SYS_FCNTL, 1, func(f *filter) { f.equals(refuse(unix.EPERM), setLease, notify, setDelegation) })
	f.argument(unix.SYS_INOTIFY_ADD_WATCH, 2, func(f *filter) { f.when(bpf.JumpBitsSet, readEvents, refuse(unix.EPERM)) })
	f.argument(unix.SYS_PERSONALITY, 0, func(f *filter) {
		const ask = 0xffffffff
		f.equals(bpf.RetConstant{Val: retAllow}, 0, ask)
		f.add(refuse(unix.EPERM))
	})
	if !p.situation.PIDNamespace {
		// Whoever is of the same user may change the limits of a process that he can name, and so end it.
		f.argument(unix.SYS_PRLIMIT64, 0, func(f *filter) {
			f.when(bpf.JumpNotEqual, 0, refuse(unix.EPERM))
		})
	}
	f.argument(unix.SYS_SOCKET, 0, func(f *filter) { f.socket(p.cfg.Network || p.byNamespace(Network)) })
	f.argument(unix.SYS_SOCKETPAIR, 0, func(f *filter) {
		f.equals(bpf.RetConstant{Val: retAllow}, unix.AF_UNIX)
		f.add(refuse(unix.EAFNOSUPPORT))
	})
	f.add(bpf.RetConstant{Val: retAllow})
	return f.code
}

func refuse(err unix.Errno) bpf.RetConstant { return bpf.RetConstant{Val: retErrno | uint32(err)} }

// filter is a program that is being written. What is added expects the number of the system call to be loaded, or the
// argument in question, and leaves it so.
type filter struct{ code []bpf.Instruction }

func (f *filter) add(code ...bpf.Instruction) { f.code = append(f.code, code...) }

// when answers if the number, or what was loaded instead, compares so to a value.
func (f *filter) when(test bpf.JumpTest, value uint32, answer bpf.RetConstant) {
	f.add(bpf.JumpIf{Cond: test, Val: value, SkipFalse: 1}, answer)
}

func (f *filter) equals(answer bpf.RetConstant, values ...uint32) {
	for _, value := range values {
		f.when(bpf.JumpEqual, value, answer)
	}
}

// argument adds what decides about a system call by one of its arguments, which is loaded.
func (f *filter) argument(number, index uint32, body func(f *filter)) {
	inner := &filter{}
	body(inner)
	f.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: number, SkipFalse: uint8(len(inner.code) + 2)})
	f.add(bpf.LoadAbsolute{Off: atArguments + 8*index, Size: 4})
	f.add(inner.code...)
	f.add(bpf.LoadAbsolute{Off: atNumber, Size: 4})
}

// made refuses a system call that opens a file, by its flags and the mode after them, if it makes one with a privileged mode. Where
// it makes none, the argument of the mode holds anything.
func (f *filter) made(number, flags uint32) {
	f.argument(number, flags, func(f *filter) {
		f.add(bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: makesFile, SkipFalse: 3})
		f.add(bpf.LoadAbsolute{Off: atArguments + 8*(flags+1), Size: 4})
		f.when(bpf.JumpBitsSet, privilegedModes, refuse(unix.EPERM))
	})
}

// socket decides about families of sockets: those that a program has a use for, as far as they lead nowhere else. Of
// netlink it is the part that lists the addresses of a machine.
func (f *filter) socket(network bool) {
	allow := bpf.RetConstant{Val: retAllow}
	f.equals(allow, unix.AF_UNIX)
	if network {
		f.equals(allow, unix.AF_INET, unix.AF_INET6)
		f.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_NETLINK, SkipFalse: 3})
		f.add(bpf.LoadAbsolute{Off: atArguments + 8*2, Size: 4})
		f.equals(allow, unix.NETLINK_ROUTE)
		f.add(refuse(unix.EAFNOSUPPORT))
		return
	}
	f.equals(refuse(unix.EACCES), unix.AF_INET, unix.AF_INET6)
	f.add(refuse(unix.EAFNOSUPPORT))
}
