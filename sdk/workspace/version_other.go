//go:build !linux

package workspace

import (
	"io/fs"
	"strconv"
)

// versionOf returns a value that changes with a file's time and size.
func versionOf(info fs.FileInfo) string {
	return strconv.FormatInt(info.ModTime().UnixNano(), 36) + "." + strconv.FormatInt(info.Size(), 36)
}
