package cli

import "golang.org/x/sys/unix"

// DiskSpace returns the free space and the size of the file system of a folder in bytes; negative:
// unknown.
func DiskSpace(dir string) (free, size int64) {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return -1, -1
	}
	return int64(fs.Bavail) * int64(fs.Bsize), int64(fs.Blocks) * int64(fs.Bsize)
}
