//go:build !linux

package workspace

import (
	"io/fs"
	"strconv"
)

// versionOf returns what changes with a file's content, as far as its time and size tell.
func versionOf(info fs.FileInfo) string {
	return strconv.FormatInt(info.ModTime().UnixNano(), 36) + "." + strconv.FormatInt(info.Size(), 36)
}
