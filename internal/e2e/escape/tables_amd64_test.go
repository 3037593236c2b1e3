package escape_test

import "golang.org/x/sys/unix"

// otherTables are attempts with system calls of the other tables and of this architecture alone.
func otherTables() []attempt {
	return []attempt{
		calling("system call of x32", byCalls, 0x40000000|unix.SYS_GETPID),
		calling("mount of x32", byCalls, 0x40000000|unix.SYS_MOUNT, "text:none", "text:/tmp", "text:tmpfs", "0", "0"),
		calling("ports of the machine", byCalls, unix.SYS_IOPL, "3"),
		calling("some ports of the machine", byCalls, unix.SYS_IOPERM, "0", "1", "1"),
		calling("segments", byCalls, unix.SYS_MODIFY_LDT, "0", "here", "64"),
	}
}
