//go:build !linux

package workspace

import "os"

// forReading returns a folder as a file whose entries are read. Here it is the same.
func forReading(folder *os.File) (*os.File, error) { return folder, nil }
