//go:build linux && (amd64 || arm64)

package entry

import (
	"bytes"
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// Where the program lies in memory: the headers, the code, what the calls point to, and the table of calls.
const (
	base       = 0x400000
	headerSize = 64 + 56 // of an ELF file with one segment
	maxTable   = 4096    // calls
	wordsEach  = 7       // of a call: its number and six arguments
	callSize   = 8 * wordsEach
)

// StatusFD is the descriptor through which the program tells what failed. Those above it are closed before the first call,
// so that descriptors which the calls open are numbered from StatusFD+1, each by the lowest number that is free.
const StatusFD = 3

// gate are the last calls. The first returns when Execute has sent a message, or when who would is no more; the second, which
// sends any byte, fails then, so that nothing is executed that nobody wants.
var gate = [][wordsEach]uint64{{unix.SYS_RECVFROM, StatusFD}, {unix.SYS_SENDTO, StatusFD, base, passedSize, unix.MSG_NOSIGNAL}}

// passedSize is how much the program says when it has passed the gate, in bytes; saidSize what it says when a call has failed:
// the kernel's answer, and the address of the call.
const passedSize, saidSize = 1, 16

// Program is the list of calls. The zero value has none. It is for one goroutine.
type Program struct {
	calls [][wordsEach]uint64
	data  []byte
}

// Call adds a system call. An argument that is an address comes from Text or Bytes.
func (p *Program) Call(number uintptr, arguments ...uint64) {
	var call [wordsEach]uint64
	call[0] = uint64(number)
	copy(call[1:], arguments)
	p.calls = append(p.calls, call)
}

// Len returns how many calls there are so far.
func (p *Program) Len() int { return len(p.calls) }

// Equal reports whether another program makes the same calls.
func (p *Program) Equal(other *Program) bool {
	return slices.Equal(p.calls, other.calls) && bytes.Equal(p.data, other.data)
}

// Text keeps a text with a final zero byte in the program, and returns its address.
func (p *Program) Text(s string) uint64 { return p.Bytes(append([]byte(s), 0)) }

// Bytes keeps bytes in the program, and returns their address, a multiple of 8.
func (p *Program) Bytes(b []byte) uint64 {
	const align = 8
	for len(p.data)%align != 0 {
		p.data = append(p.data, 0)
	}
	at := p.dataAt() + uint64(len(p.data))
	p.data = append(p.data, b...)
	return at
}

// Words keeps numbers of 64 bits in the program, and returns their address.
func (p *Program) Words(all ...uint64) uint64 {
	var b []byte
	for _, word := range all {
		b = binary.NativeEndian.AppendUint64(b, word)
	}
	return p.Bytes(b)
}

// image returns the program as an ELF executable that ends by executing path, and where its table is in memory. It changes
// nothing of the program.
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

// The data comes first, so that its addresses are known at once; the table begins after what there is of it now.
func (p *Program) dataAt() uint64  { return base + headerSize + codeSize }
func (p *Program) tableAt() uint64 { return p.dataAt() + (uint64(len(p.data))+7)/8*8 }

// header returns the ELF header and the header of the one segment, which is read and executed.
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
	long(begin, 64, 0) // where it begins, and where the segments are told
	word(0)
	for _, v := range []uint16{64, 56, 1, 0, 0, 0} {
		half(v)
	}
	word(1)
	word(readExecute)
	long(0, base, base, headerSize+size, headerSize+size, page)
	return b
}
