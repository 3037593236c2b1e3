package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// deniedHere are the further denied system calls of this architecture.
var deniedHere = []uint32{
	unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL,
	unix.SYS_CREATE_MODULE, unix.SYS_QUERY_MODULE, unix.SYS_GET_KERNEL_SYMS,
}

// openArguments returns the system calls that open a file, with the index of their argument for
// flags.
func openArguments() map[uint32]uint32 {
	return map[uint32]uint32{unix.SYS_OPEN: 1, unix.SYS_OPENAT: 2}
}

// modeArguments returns the system calls that set the mode of a file or create a file, with the
// index of their argument for the mode.
func modeArguments() map[uint32]uint32 {
	return map[uint32]uint32{unix.SYS_CHMOD: 1, unix.SYS_FCHMOD: 1, unix.SYS_FCHMODAT: 2, unix.SYS_FCHMODAT2: 2, unix.SYS_CREAT: 1, unix.SYS_MKNOD: 1, unix.SYS_MKNODAT: 2}
}
