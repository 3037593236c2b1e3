package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// deniedHere are further system calls of this architecture: none.
var deniedHere []uint32

// openArguments returns the system calls that open a file, and which argument the flags are.
func openArguments() map[uint32]uint32 { return map[uint32]uint32{unix.SYS_OPENAT: 2} }

// modeArguments returns the system calls that change the mode of a file or make one of a mode, and which argument that is.
func modeArguments() map[uint32]uint32 {
	return map[uint32]uint32{unix.SYS_FCHMOD: 1, unix.SYS_FCHMODAT: 2, unix.SYS_FCHMODAT2: 2, unix.SYS_MKNODAT: 2}
}
