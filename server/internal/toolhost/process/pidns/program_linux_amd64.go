package pidns

import "golang.org/x/sys/unix"

const machine = 62 // EM_X86_64

// systemCall returns the code of a system call with its number and arguments. The result is in EAX.
func systemCall(call []uint32) []byte {
	load := [][]byte{
		{0xb8},                               // mov eax, …
		{0xbf}, {0xbe}, {0xba}, {0x41, 0xba}, // edi, esi, edx, r10d
		{0x41, 0xb8}, {0x41, 0xb9}, // r8d, r9d
	}
	var code []byte
	for i, value := range call {
		code = append(code, load[i]...)
		code = append(code, byte(value), byte(value>>8), byte(value>>16), byte(value>>24))
	}
	return append(code, 0x0f, 0x05) // syscall
}

// checkedCall returns the code of a system call after which the program exits if the call failed.
func checkedCall(call []uint32) []byte {
	exit := []byte{0xf7, 0xd8, 0x89, 0xc7} // neg eax; mov edi, eax
	exit = append(exit, 0xb8, unix.SYS_EXIT_GROUP, 0, 0, 0, 0x0f, 0x05)
	code := append(systemCall(call), 0x85, 0xc0, 0x79, byte(len(exit))) // test eax, eax; jns past the exit
	return append(code, exit...)
}

// forever repeats the code, which must be short.
func forever(code []byte) []byte {
	const jump = 2
	return append(code, 0xeb, byte(-(len(code) + jump))) // jmp to its beginning
}
