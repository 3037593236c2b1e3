package entry

import "encoding/binary"

const (
	machine  = 183 // EM_AARCH64
	codeSize = 160
)

// code returns the program's instructions. They make the calls of the table until a number is
// negative, and then execute the file whose name is at the address. If a call fails, they write the
// kernel's answer and the address of the call to StatusFD.
func code(table, name uint64) []byte {
	var c []uint32
	add := func(instructions ...uint32) { c = append(c, instructions...) }
	load := func(register uint32, v uint64) {
		add(0xd2800000|uint32(v&0xffff)<<5|register, // movz
			0xf2a00000|uint32(v>>16&0xffff)<<5|register) // movk, lsl 16
	}
	const supervisorCall = 0xd4000001

	add(0x910003f4) // mov x20, sp
	load(19, table)
	loop := len(c)
	add(0xf9400268) // ldr x8, [x19]
	toExecute := len(c)
	add(0xb7f80008) // tbnz x8, #63, execute
	for i := range uint32(wordsEach - 1) {
		add(0xf9400260 | (i+1)<<10 | i) // ldr xI, [x19, #8*(I+1)]
	}
	add(supervisorCall)
	toFail := len(c)
	add(0xb7f80000)                                  // tbnz x0, #63, fail
	add(0x91000273 | callSize<<10)                   // add x19, x19, #callSize
	add(0x14000000 | uint32(loop-len(c))&0x03ffffff) // b loop

	c[toExecute] |= uint32(len(c)-toExecute) << 5
	load(0, name)
	add(0xf9400289) // ldr x9, [x20]: the number of arguments
	add(0x91002281) // add x1, x20, #8: the arguments
	add(0x8b090c22) // add x2, x1, x9, lsl #3
	add(0x91002042) // add x2, x2, #8: the environment
	load(8, 221)    // execve
	add(supervisorCall)

	c[toFail] |= uint32(len(c)-toFail) << 5
	add(0xd10043ff) // sub sp, sp, #16
	add(0xa9004fe0) // stp x0, x19, [sp]
	load(0, StatusFD)
	add(0x910003e1) // mov x1, sp
	load(2, 16)
	load(8, 64) // write
	add(supervisorCall)
	load(0, exitCode)
	load(8, 94) // exit_group
	add(supervisorCall)
	var text []byte
	for _, instruction := range c {
		text = binary.LittleEndian.AppendUint32(text, instruction)
	}
	return text
}
