//go:build linux && (amd64 || arm64)

package entry

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// The program's places in memory: the headers, the code, the data of the calls, and the table of
// calls.
const (
	base       = 0x400000
	headerSize = 64 + 56 // of an ELF file with one segment
	maxTable   = 4096    // calls
	wordsEach  = 7       // of a call: the number and six arguments
	callSize   = 8 * wordsEach
)

// StatusFD is the descriptor on which the program reports. The descriptors above it are closed
// before the first call, so that calls that open descriptors get the lowest free numbers from
// StatusFD+1 on.
const StatusFD = 3

// gate has the last two system calls before the execution. The first one returns when Execute has
// sent a message, or when the process that would send it has ended. The second one sends a byte. If
// that process has ended, it fails, and nothing is executed.
var gate = [][wordsEach]uint64{{unix.SYS_RECVFROM, StatusFD}, {unix.SYS_SENDTO, StatusFD, base, passedSize, unix.MSG_NOSIGNAL}}

// passedSize is the size of the program's message after the gate, in bytes. saidSize is that of its
// message about a failed call: the kernel's answer and the address of the call.
const passedSize, failureSize = 1, 16

// Program is a list of system calls. The zero value is empty. A Program must not be used
// concurrently.
type Program struct {
	calls [][wordsEach]uint64
	data  []byte
}

// Call adds a system call. Arguments that are addresses are results of Text or Bytes.
func (p *Program) Call(number uintptr, arguments ...uint64) {
	var call [wordsEach]uint64
	call[0] = uint64(number)
	copy(call[1:], arguments)
	p.calls = append(p.calls, call)
}

// Len returns the number of calls.
func (p *Program) Len() int { return len(p.calls) }

// Text stores a text with a final zero byte in the program, and returns its address.
func (p *Program) Text(s string) uint64 { return p.Bytes(append([]byte(s), 0)) }

// Bytes stores bytes in the program, and returns their address, a multiple of 8.
func (p *Program) Bytes(b []byte) uint64 {
	const align = 8
	for len(p.data)%align != 0 {
		p.data = append(p.data, 0)
	}
	at := p.dataAt() + uint64(len(p.data))
	p.data = append(p.data, b...)
	return at
}

// Words stores 64-bit numbers in the program, and returns their address.
func (p *Program) Words(all ...uint64) uint64 {
	var b []byte
	for _, word := range all {
		b = binary.NativeEndian.AppendUint64(b, word)
	}
	return p.Bytes(b)
}

// image returns the program as an ELF executable that ends by executing path, and the address of
// its table. It does not change the Program.
func (p *Program) image(path string) (image []byte, table uint64) {
	p = &Program{calls: p.calls, data: slices.Clip(p.data)}
	name := p.Text(path)
	instructions := code(p.tableAt(), name)
	text := make([]byte, codeSize, codeSize+len(p.data)+(2+len(p.calls))*callSize)
	copy(text, instructions)
	text = append(text, p.data...)
	text = append(text, make([]byte, int(p.tableAt())-base-headerSize-len(text))...)
	for _, call := range slices.Concat(p.calls, gate) {
		for _, word := range call {
			text = binary.LittleEndian.AppendUint64(text, word)
		}
	}
	end := ^uint64(0)
	text = binary.LittleEndian.AppendUint64(text, end)
	return append(header(uint64(len(text))), text...), p.tableAt()
}

// The data comes first, so that its addresses are known at once. The table begins after the data.
func (p *Program) dataAt() uint64  { return base + headerSize + codeSize }
func (p *Program) tableAt() uint64 { return p.dataAt() + (uint64(len(p.data))+7)/8*8 }

// header returns the ELF header, and the header of the one segment, which is readable and
// executable.
func header(size uint64) []byte {
	const (
		readExecute, page = 5, 0x10000
		begin             = base + headerSize
	)
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	half := func(v uint16) { b = binary.LittleEndian.AppendUint16(b, v) }
	word := func(v uint32) { b = binary.LittleEndian.AppendUint32(b, v) }
	long := func(v ...uint64) {
		for _, v := range v {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
	}
	half(2) // an executable
	half(machine)
	word(1)
	long(begin, 64, 0) // the entry point, and the offset of the segment's header
	word(0)
	for _, v := range []uint16{64, 56, 1, 0, 0, 0} {
		half(v)
	}
	word(1)
	word(readExecute)
	long(0, base, base, headerSize+size, headerSize+size, page)
	return b
}
