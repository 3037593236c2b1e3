//go:build linux

package escape_test

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// otherTables are attempts with system calls of the other tables, and with those of this
// architecture.
func otherTables() []attempt {
	return []attempt{
		calling("system call of x32", byCalls, 0x40000000|unix.SYS_GETPID),
		calling("mount of x32", byCalls, 0x40000000|unix.SYS_MOUNT, "text:none", "text:/tmp", "text:nosuchfs", "0", "0"),
		calling("ports of the machine", byCalls, unix.SYS_IOPL, "3"),
		calling("some ports of the machine", byCalls, unix.SYS_IOPERM, "0", "1", "1"),
		calling("segments", byCalls, unix.SYS_MODIFY_LDT, "0", "here", "64"),
	}
}

// testOtherTables runs a 32-bit program, whose system calls have other numbers and would print a
// text.
func (h *toolhost) testOtherTables(t *testing.T) {
	path := h.path("work/inside/program32")
	if err := os.WriteFile(path, program32(), 0o755); err != nil {
		t.Fatal(err)
	}
	answer, err := h.try(t, "escapeplugin", "run", path)
	switch {
	case !strings.Contains(answer, escaped) && err != nil:
		t.Logf("denied: %v", err)
	case h.layer(t, "escapeplugin", "syscalls").Effective:
		t.Errorf("it got out: %q, %v", answer, err)
	default:
		t.Logf("this machine lacks the layer, and toolhost ps says so; it got out: %q", answer)
	}
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
}

// program32 returns a 32-bit program that prints the text of the constant escaped. The program
// makes its system calls with the instruction int 0x80.
func program32() []byte {
	const base, headers, textAt = 0x08048000, 52 + 32, 34
	code := []byte{
		0xb8, 4, 0, 0, 0, // mov eax, 4: write
		0xbb, 1, 0, 0, 0, // mov ebx, 1
		0xb9, headers + textAt, 0x80, 0x04, 0x08, // mov ecx, text
		0xba, byte(len(escaped)), 0, 0, 0, // mov edx, its length
		0xcd, 0x80, // int 0x80
		0xb8, 1, 0, 0, 0, // mov eax, 1: exit
		0x31, 0xdb, // xor ebx, ebx
		0xcd, 0x80, // int 0x80
		0x90, 0x90, 0x90,
	}
	code = append(code[:textAt], escaped...)
	b := append([]byte("\x7fELF\x01\x01\x01"), make([]byte, 9)...)
	half := func(all ...uint16) {
		for _, v := range all {
			b = binary.LittleEndian.AppendUint16(b, v)
		}
	}
	word := func(all ...uint32) {
		for _, v := range all {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	size := uint32(headers + len(code))
	half(2, 3) // an executable for 80386
	word(1, base+headers, 52, 0, 0)
	half(52, 32, 1, 0, 0, 0)
	word(1, 0, base, base, size, size, 5, 0x1000) // one segment, readable and executable
	return append(b, code...)
}
