package catalog

import (
	"io/fs"
	"syscall"
)

// fileStat is what tells without reading that a file is still the same. The change time cannot be set back by its
// owner, unlike the modification time.
type fileStat struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Size   int64  `json:"size"`
	Change int64  `json:"change"` // in nanoseconds since 1970
}

func statOf(info fs.FileInfo) fileStat {
	st := info.Sys().(*syscall.Stat_t)
	return fileStat{Device: uint64(st.Dev), Inode: st.Ino, Size: st.Size, Change: st.Ctim.Nano()}
}
