package entry

import "encoding/binary"

const (
	machine  = 62 // EM_X86_64
	codeSize = 160
)

// code returns the program's instructions. They make the calls of the table until a number is
// negative, and then execute the file whose name is at the address. If a call fails, they write the
// kernel's answer and the address of the call to StatusFD.
func code(table, name uint64) []byte {
	var c []byte
	add := func(b ...byte) { c = append(c, b...) }
	number := func(v uint64) { c = binary.LittleEndian.AppendUint32(c, uint32(v)) }

	add(0x48, 0x89, 0xe5) // mov rbp, rsp
	add(0xbb)             // mov ebx, table
	number(table)
	loop := len(c)
	add(0x48, 0x8b, 0x03)       // mov rax, [rbx]
	add(0x48, 0x85, 0xc0)       // test rax, rax
	add(0x78, 0)                // js execute
	toExecute := len(c)         //
	add(0x48, 0x8b, 0x7b, 0x08) // mov rdi, [rbx+8]
	add(0x48, 0x8b, 0x73, 0x10) // mov rsi, [rbx+16]
	add(0x48, 0x8b, 0x53, 0x18) // mov rdx, [rbx+24]
	add(0x4c, 0x8b, 0x53, 0x20) // mov r10, [rbx+32]
	add(0x4c, 0x8b, 0x43, 0x28) // mov r8, [rbx+40]
	add(0x4c, 0x8b, 0x4b, 0x30) // mov r9, [rbx+48]
	add(0x0f, 0x05)             // syscall
	add(0x48, 0x85, 0xc0)       // test rax, rax
	add(0x78, 0)                // js fail
	toFail := len(c)
	add(0x48, 0x83, 0xc3, callSize) // add rbx, callSize
	add(0xeb, 0)                    // jmp loop
	c[len(c)-1] = byte(loop - len(c))

	c[toExecute-1] = byte(len(c) - toExecute)
	add(0xbf) // mov edi, name
	number(name)
	add(0x48, 0x8d, 0x75, 0x08)        // lea rsi, [rbp+8]: the arguments
	add(0x48, 0x8b, 0x4d, 0x00)        // mov rcx, [rbp]: their number
	add(0x48, 0x8d, 0x54, 0xcd, 0x10)  // lea rdx, [rbp+rcx*8+16]: the environment
	add(0xb8, 59, 0, 0, 0, 0x0f, 0x05) // execve

	c[toFail-1] = byte(len(c) - toFail)
	add(0x53, 0x50)                     // push rbx; push rax
	add(0xbf, StatusFD, 0, 0, 0)        // mov edi, StatusFD
	add(0x48, 0x89, 0xe6)               // mov rsi, rsp
	add(0xba, 16, 0, 0, 0)              // mov edx, 16
	add(0xb8, 1, 0, 0, 0, 0x0f, 0x05)   // write
	add(0xbf, exitCode, 0, 0, 0)        // mov edi, exitCode
	add(0xb8, 231, 0, 0, 0, 0x0f, 0x05) // exit_group
	return c
}
