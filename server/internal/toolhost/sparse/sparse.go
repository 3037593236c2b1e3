// Package sparse copies files without filling their holes: blocks of zeros that take no disk space.
// It does not know which files are copied.
package sparse

import (
	"bytes"
	"io"
	"os"
)

// Copy writes what a reader has to a new, empty file, and returns its size. Blocks of zeros become
// holes, so that the copy of a sparse file takes no more disk space than the original. Copy does
// not close the file.
func Copy(to *os.File, from io.Reader) (size int64, err error) {
	if size, err = io.Copy(&writer{to}, from); err != nil {
		return size, err
	}
	return size, to.Truncate(size) // the content may end with zeros
}

// writer writes a new file and skips blocks of zeros.
type writer struct{ file *os.File }

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	const block = 4 << 10
	for at := 0; at < len(p); {
		end := min(at+block, len(p))
		zeros := isZero(p[at:end])
		for end < len(p) && isZero(p[end:min(end+block, len(p))]) == zeros { // as many blocks as possible at once
			end = min(end+block, len(p))
		}
		var err error
		if zeros {
			_, err = w.file.Seek(int64(end-at), io.SeekCurrent)
		} else {
			_, err = w.file.Write(p[at:end])
		}
		if err != nil {
			return at, err
		}
		at = end
	}
	return len(p), nil
}

func isZero(p []byte) bool { return len(bytes.TrimLeft(p, "\x00")) == 0 }
