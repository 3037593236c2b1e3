//go:build !linux

package catalog

import (
	"fmt"
	"io/fs"
)

// stampOf returns a text that changes with the file, without reading the file.
func stampOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d:%d:%o", info.Size(), info.ModTime().UnixNano(), uint32(info.Mode()))
}

// stampInFolder returns the stamp of a file in a plugin folder.
func stampInFolder(info fs.FileInfo) string { return stampOf(info) }
