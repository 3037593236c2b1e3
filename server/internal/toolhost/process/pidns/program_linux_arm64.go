package pidns

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

const machine = 183 // EM_AARCH64

const supervisorCall = 0xd4000001 // svc #0

func words(code ...uint32) []byte {
	var text []byte
	for _, word := range code {
		text = binary.LittleEndian.AppendUint32(text, word)
	}
	return text
}

// load returns the code that puts a value into a register.
func load(register, value uint32) []byte {
	return words(
		0xd2800000|value&0xffff<<5|register, // movz
		0xf2a00000|value>>16<<5|register,    // movk, lsl 16
	)
}

// systemCall returns the code of a system call with its number and arguments. The result is in X0.
func systemCall(call []uint32) []byte {
	code := load(8, call[0])
	for i, value := range call[1:] {
		code = append(code, load(uint32(i), value)...)
	}
	return append(code, words(supervisorCall)...)
}

// checkedCall returns the code of a system call after which the program exits if the call failed.
func checkedCall(call []uint32) []byte {
	exit := words(0xcb0003e0) // neg x0, x0
	exit = append(exit, load(8, unix.SYS_EXIT_GROUP)...)
	exit = append(exit, words(supervisorCall)...)
	past := uint32(len(exit)/4 + 1)
	code := append(systemCall(call), words(0xb6f80000|past<<5)...) // tbz x0, #63: past the exit if it is not negative
	return append(code, exit...)
}

// forever repeats the code, which must be short.
func forever(code []byte) []byte {
	back := -int32(len(code) / 4)
	return append(code, words(0x14000000|uint32(back)&0x03ffffff)...) // b
}
