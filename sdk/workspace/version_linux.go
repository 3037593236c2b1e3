package workspace

import (
	"io/fs"
	"strconv"
	"syscall"
)

// versionOf returns what changes with a file's content. The times alone may not: a clock may stand still between two
// writes. But a write by WriteFile makes another file.
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
