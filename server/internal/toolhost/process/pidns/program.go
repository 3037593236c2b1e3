//go:build linux && (amd64 || arm64)

package pidns

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// The program's place in memory.
const (
	base       = 0x400000
	headerSize = 64 + 56 // of an ELF file with one segment
	dataSize   = 64
	codeAt     = base + headerSize + dataSize
)

// data are the program's constants at fixed places, so that the code can contain their addresses.
func data() (text []byte, at struct{ root, proc, fstype, action uint32 }) {
	const begin = base + headerSize
	text = make([]byte, dataSize)
	copy(text[0:], "/\x00")
	copy(text[8:], "/proc\x00")
	copy(text[16:], "proc\x00")
	text[24] = 1 // the handler SIG_IGN; flags, restorer and mask, 24 more bytes, are 0
	at.root, at.proc, at.fstype, at.action = begin, begin+8, begin+16, begin+24
	return text, at
}

// program returns the first process of a namespace as an ELF executable:
//
//	mount("", "/", "", MS_REC|MS_SLAVE, 0)   // its mounts stay here; later mounts of toolhost appear
//	mount("proc", "/proc", "proc", …, 0)
//	rt_sigaction(SIGCHLD, SIG_IGN, …)        // the kernel reaps its orphans
//	write(1, "/", 1)                         // it is ready
//	close(1)
//	for { ppoll(0, 0, 0, 0) }
//
// If one of these calls fails, it exits with the error's number.
func program() []byte {
	constants, at := data()
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	var code []byte
	for _, call := range [][]uint32{
		{unix.SYS_MOUNT, at.root, at.root, at.root, unix.MS_REC | unix.MS_SLAVE, 0},
		{unix.SYS_MOUNT, at.fstype, at.proc, at.fstype, flags, 0},
		{unix.SYS_RT_SIGACTION, uint32(unix.SIGCHLD), at.action, 0, 8},
		{unix.SYS_WRITE, 1, at.root, 1},
		{unix.SYS_CLOSE, 1},
	} {
		code = append(code, checkedCall(call)...)
	}
	code = append(code, forever(systemCall([]uint32{unix.SYS_PPOLL, 0, 0, 0, 0}))...)
	return append(header(uint64(len(code))), append(constants, code...)...)
}

// header returns the ELF header, and the header of the one segment, which is readable and
// executable.
func header(codeSize uint64) []byte {
	const readExecute, page = 5, 0x10000
	size := headerSize + dataSize + codeSize
	var b bytes.Buffer
	b.WriteString("\x7fELF\x02\x01\x01")
	b.Write(make([]byte, 9))
	for _, field := range []any{
		uint16(2), uint16(machine), uint32(1), // an executable
		uint64(codeAt), uint64(64), uint64(0), uint32(0), // the entry point, and the offset of the segment's header
		uint16(64), uint16(56), uint16(1), uint16(0), uint16(0), uint16(0),
		uint32(1), uint32(readExecute), uint64(0), uint64(base), uint64(base), size, size, uint64(page),
	} {
		_ = binary.Write(&b, binary.LittleEndian, field) // a Buffer does not fail
	}
	return b.Bytes()
}
