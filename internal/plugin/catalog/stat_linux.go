package catalog

import (
	"fmt"
	"io/fs"
	"syscall"
)

// stampOf returns a text that changes with the file, without reading the file. The file's owner can
// set the modification time back, but not the change time.
func stampOf(info fs.FileInfo) string {
	st := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d:%d:%d:%o", st.Dev, st.Ino, st.Size, st.Ctim.Nano(), uint32(info.Mode()))
}
