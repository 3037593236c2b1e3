package sandbox_test

const auditArchIsAMD64 = true

// int80 returns a 64-bit program that prints a word by a 32-bit system call.
func int80() []byte {
	const base, headers = 0x400000, 64 + 56
	code := []byte{
		0xb8, 4, 0, 0, 0, // mov eax, 4: write
		0xbb, 1, 0, 0, 0, // mov ebx, 1
		0xb9, headers + 34, 0, 0x40, 0, // mov ecx, text
		0xba, 7, 0, 0, 0, // mov edx, 7
		0xcd, 0x80, // int 0x80
		0xb8, 60, 0, 0, 0, // mov eax, 60: exit
		0x31, 0xff, // xor edi, edi
		0x0f, 0x05, // syscall
		0x90, 0x90, 0x90,
	}
	code = append(code[:34], "escaped"...)
	header := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, headers-7)...)
	put := func(at int, v uint64, size int) {
		for i := range size {
			header[at+i] = byte(v >> (8 * i))
		}
	}
	for _, f := range []struct {
		at   int
		v    uint64
		size int
	}{
		{16, 2, 2}, {18, 62, 2}, {20, 1, 4}, {24, base + headers, 8}, {32, 64, 8}, {52, 64, 2}, {54, 56, 2}, {56, 1, 2},
		{64, 1, 4}, {68, 5, 4}, {80, base, 8}, {88, base, 8}, {96, uint64(headers + len(code)), 8}, {104, uint64(headers + len(code)), 8}, {112, 0x1000, 8},
	} {
		put(f.at, f.v, f.size)
	}
	return append(header, code...)
}
