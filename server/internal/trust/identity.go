package trust

import (
	"os"
	"syscall"
)

// identity identifies a folder independent of its path. A moved folder keeps its identity, a bind
// mount has the identity of its source, and a folder that was removed and created again gets
// another one. The zero identity belongs to no folder.
type identity struct {
	Device uint64 `json:"device,omitempty"`
	Inode  uint64 `json:"inode"`
	// Born is the time at which the folder was made, in nanoseconds since 1970; 0 where the file
	// system does not tell. File systems reuse inode numbers, but not together with the time.
	Born int64 `json:"born,omitempty"`
}

// identify returns the identity of a path, and the zero identity if the path does not exist.
func identify(path string) identity {
	info, err := os.Stat(path)
	if err != nil {
		return identity{}
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}
	}
	return identity{Device: uint64(stat.Dev), Inode: stat.Ino, Born: born(path)}
}

// is reports whether two identities belong to the same folder. Device numbers can change at a
// restart, so that they count only where the time is unknown.
func (i identity) is(other identity) bool {
	if i.Inode != other.Inode || i.Inode == 0 {
		return false
	}
	if i.Born != 0 && other.Born != 0 {
		return i.Born == other.Born
	}
	return i.Device == other.Device
}

// HasOtherNames reports whether a file has more than one name (hard links) and belongs to this
// user, so that a plugin may be able to write it under another name. It reports false if it cannot
// look.
func HasOtherNames(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1 && int(stat.Uid) == os.Geteuid()
}
