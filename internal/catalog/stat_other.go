//go:build !linux

package catalog

import "io/fs"

// fileStat is what tells without reading that a file is still the same.
type fileStat struct {
	Size   int64 `json:"size"`
	Change int64 `json:"change"` // in nanoseconds since 1970
}

func statOf(info fs.FileInfo) fileStat {
	return fileStat{Size: info.Size(), Change: info.ModTime().UnixNano()}
}
