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

// stampInFolder returns the stamp of a file in a plugin folder. Another plugin's environment may
// get a new hard link to the file, which sets the file's change time. So the stamp of a file with
// several names contains the modification time instead. Otherwise each `toolhost install` would
// make the catalog read all plugins again that share a file with the new one. The catalog does not
// notice a program that writes such a file and sets its modification time back. The copy that was
// hashed then stays in service.
func stampInFolder(info fs.FileInfo) string {
	st := info.Sys().(*syscall.Stat_t)
	if st.Nlink == 1 || info.IsDir() {
		return stampOf(info)
	}
	return fmt.Sprintf("%d:%d:%d:m%d:%o", st.Dev, st.Ino, st.Size, st.Mtim.Nano(), uint32(info.Mode()))
}
