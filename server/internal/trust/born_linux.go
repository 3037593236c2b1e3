package trust

import "golang.org/x/sys/unix"

// born returns the time at which the file at a path was created, in nanoseconds since 1970, and 0
// if the file system does not record it.
func born(path string) int64 {
	var stat unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &stat); err != nil || stat.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return stat.Btime.Sec*1e9 + int64(stat.Btime.Nsec)
}
