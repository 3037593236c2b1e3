package workspace

import (
	"io/fs"
	"strconv"
	"syscall"
)

// versionOf returns a value that changes with a file's content. It has more than times, because a
// clock may show the same time at two writes. A write by WriteFile creates another file, which has
// another inode.
func versionOf(info fs.FileInfo) string {
	b := make([]byte, 0, 64)
	b = strconv.AppendInt(b, info.ModTime().UnixNano(), 36)
	b = append(b, '.')
	b = strconv.AppendInt(b, info.Size(), 36)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		b = append(b, '.')
		b = strconv.AppendUint(b, stat.Ino, 36)
		b = append(b, '.')
		b = strconv.AppendInt(b, stat.Ctim.Nano(), 36)
	}
	return string(b)
}
