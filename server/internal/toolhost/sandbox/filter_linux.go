//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"maps"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Results of a filter.
const (
	retKill  = 0x80000000 // SECCOMP_RET_KILL_PROCESS
	retErrno = 0x00050000 // SECCOMP_RET_ERRNO, with the error in the lower half
	retAllow = 0x7fff0000 // SECCOMP_RET_ALLOW
)

// Offsets of the fields that a filter can load, in struct seccomp_data. For arguments it is the
// lower half: the kernel uses only that half of the arguments that are tested here.
const (
	atNumber    = 0
	atArch      = 4
	atArguments = 16
)

// newest is the last system call that this filter knows. Later ones get ENOSYS, as on a kernel that
// does not have them, so that programs use older calls. They could be as powerful as the denied
// ones.
const newest = 469 // file_setattr

// denied are the system calls that are refused with any arguments: those that change what a process
// sees or is, that look into other processes, that reach hardware or the kernel, or that bypass the
// filter.
var denied = []uint32{
	// Mounts, roots, namespaces.
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, 467, // open_tree_attr
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT,
	// Access to files by handles, past the mounts.
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
	// Other processes.
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	// The kernel.
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	// Calls that make other calls past the filter.
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// ipc are the system calls by which processes share memory, semaphores and queues without a file.
var ipc = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// newNamespaces are the flags of clone that make namespaces. clone has no flag for time namespaces.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Requests of ioctl by which a process puts input into its terminal, or reaches the machine's
// console.
const (
	tiocsti   = 0x5412
	tioclinux = 0x541c
	tiocsetd  = 0x5423
)

// privilegedModes are the mode bits by which a file gives its owner's rights to each process that
// executes it, also outside of the sandbox.
const privilegedModes = unix.S_ISUID | unix.S_ISGID

// makesFile are the flags of open that create a file: O_CREAT, and the bit that O_TMPFILE adds to
// O_DIRECTORY. Only with them does the kernel read the mode argument.
const makesFile = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// Commands of fcntl by which a process that can only read a file is notified of accesses by others,
// and delays them.
const (
	setLease      = unix.F_SETLEASE
	notify        = unix.F_NOTIFY
	setDelegation = 1024 + 16 // F_SETDELEG
)

// readEvents are the events of inotify for reading and executing. A watch of a system folder would
// tell which programs other users of the machine run, and the filter cannot see which folder is
// watched. Changes can be watched.
const readEvents = unix.IN_ACCESS | unix.IN_OPEN | unix.IN_CLOSE_NOWRITE

// writeFilter installs the filter. It is the last call before the execution of the program.
func writeFilter(c *callList, m *mechanisms) {
	at := step{layer: Syscalls, what: "filtering its system calls", optional: true}
	code, err := bpf.Assemble(newFilter(m))
	if err != nil {
		panic("sandbox: " + err.Error()) // only a wrong constant causes it
	}
	var text []byte
	for _, i := range code { // struct sock_filter
		text = binary.NativeEndian.AppendUint16(text, i.Op)
		text = append(text, i.Jt, i.Jf)
		text = binary.NativeEndian.AppendUint32(text, i.K)
	}
	const setModeFilter = 1                                            // SECCOMP_SET_MODE_FILTER
	fprog := c.program.Words(uint64(len(code)), c.program.Bytes(text)) // struct sock_fprog
	c.call(at, unix.SYS_SECCOMP, setModeFilter, 0, fprog)
}

// newFilter returns the program that decides about each system call.
func newFilter(m *mechanisms) []bpf.Instruction {
	f := &filter{}
	f.add(bpf.LoadAbsolute{Off: atArch, Size: 4})
	f.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1}, bpf.RetConstant{Val: retKill}) // in another architecture, the numbers mean other calls
	f.add(bpf.LoadAbsolute{Off: atNumber, Size: 4})
	// Numbers of other tables, such as x32, are above all numbers of this one.
	f.when(bpf.JumpGreaterThan, newest, refuse(unix.ENOSYS))
	f.equals(refuse(unix.ENOSYS), unix.SYS_CLONE3, unix.SYS_OPENAT2) // a filter cannot read their flags; all programs fall back to clone and openat
	f.equals(refuse(unix.EPERM), denied...)
	f.equals(refuse(unix.EPERM), deniedHere...)
	if !m.byNamespace(IPC) {
		f.equals(refuse(unix.EPERM), ipc...)
	}
	f.argument(unix.SYS_CLONE, 0, func(f *filter) { f.when(bpf.JumpBitsSet, newNamespaces, refuse(unix.EPERM)) })
	f.argument(unix.SYS_IOCTL, 1, func(f *filter) { f.equals(refuse(unix.EPERM), tiocsti, tioclinux, tiocsetd) })
	modes := modeArguments()
	for _, number := range slices.Sorted(maps.Keys(modes)) { // sorted, so that plans can be compared
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
	if !m.situation.PIDNamespace {
		// Any process of the same user could change the limits of a process whose id it knows, and
		// so end it.
		f.argument(unix.SYS_PRLIMIT64, 0, func(f *filter) {
			f.when(bpf.JumpNotEqual, 0, refuse(unix.EPERM))
		})
	}
	f.argument(unix.SYS_SOCKET, 0, func(f *filter) { f.socket(m.cfg.Network || m.byNamespace(Network)) })
	f.argument(unix.SYS_SOCKETPAIR, 0, func(f *filter) {
		f.equals(bpf.RetConstant{Val: retAllow}, unix.AF_UNIX)
		f.add(refuse(unix.EAFNOSUPPORT))
	})
	f.add(bpf.RetConstant{Val: retAllow})
	return f.code
}

func refuse(err unix.Errno) bpf.RetConstant { return bpf.RetConstant{Val: retErrno | uint32(err)} }

// filter is a program under construction. Each added part expects that the number of the system
// call, or the argument in question, is loaded, and leaves it loaded.
type filter struct{ code []bpf.Instruction }

func (f *filter) add(code ...bpf.Instruction) { f.code = append(f.code, code...) }

// when adds a result for the case that the loaded value compares to a value in the given way.
func (f *filter) when(test bpf.JumpTest, value uint32, answer bpf.RetConstant) {
	f.add(bpf.JumpIf{Cond: test, Val: value, SkipFalse: 1}, answer)
}

func (f *filter) equals(answer bpf.RetConstant, values ...uint32) {
	for _, value := range values {
		f.when(bpf.JumpEqual, value, answer)
	}
}

// argument adds a decision about a system call by one of its arguments. When the code of body runs,
// the argument is loaded.
func (f *filter) argument(number, index uint32, body func(f *filter)) {
	inner := &filter{}
	body(inner)
	f.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: number, SkipFalse: uint8(len(inner.code) + 2)})
	f.add(bpf.LoadAbsolute{Off: atArguments + 8*index, Size: 4})
	f.add(inner.code...)
	f.add(bpf.LoadAbsolute{Off: atNumber, Size: 4})
}

// made refuses a system call that opens a file if its flags create one and the mode argument after
// them has a privileged bit. If the flags create no file, the mode argument can hold any value.
func (f *filter) made(number, flags uint32) {
	f.argument(number, flags, func(f *filter) {
		f.add(bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: makesFile, SkipFalse: 3})
		f.add(bpf.LoadAbsolute{Off: atArguments + 8*(flags+1), Size: 4})
		f.when(bpf.JumpBitsSet, privilegedModes, refuse(unix.EPERM))
	})
}

// socket adds the decision about socket families. It allows those that programs need and that lead
// nowhere else. Of netlink it allows the part that lists the machine's addresses.
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
