package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// part is the beginning of a file, or a whole file.
type part struct {
	path   string
	file   *os.File // nil: it is opened when it is read, and then read to its end
	size   int64    // of the part of an open file
	mayEnd bool     // the file may be gone, and has then no lines
}

// parts returns the files of the log as they are now, the oldest first; none: it has no file. The
// newest one is open, and the caller closes it.
func (l *Log) parts() ([]part, error) {
	// If it was opened after the others were listed, a rotation between could hide a file.
	newest, err := os.Open(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, l.failed("reading", err)
	}
	files, err := formerFiles(l.path)
	if newest == nil && len(files) > 0 && err == nil { // another process is about to begin the next file
		newest, err = os.Open(files[len(files)-1])
	}
	if newest == nil {
		return nil, err
	}
	var info fs.FileInfo
	if err == nil {
		info, err = newest.Stat()
	}
	if err != nil {
		return nil, errors.Join(l.failed("reading", err), newest.Close())
	}
	var parts []part
	for _, path := range files {
		if former, err := os.Stat(path); err == nil && os.SameFile(former, info) {
			break
		}
		parts = append(parts, part{path: path, mayEnd: true})
	}
	return append(parts, part{path: l.path, file: newest, size: info.Size()}), nil
}

// forward calls visit for the lines of a part, as eachLine does.
func (p part) forward(visit func(n int, text []byte, whole bool) error) error {
	return p.with(func(file *os.File, size int64) error {
		if size < 0 {
			return eachLine(p.path, file, visit)
		}
		return eachLine(p.path, io.NewSectionReader(file, 0, size), visit)
	})
}

// backward calls visit for the lines of a part, the newest first, until visit fails.
func (p part) backward(visit func(text []byte, whole bool) error) error {
	return p.with(func(file *os.File, size int64) error {
		if size < 0 {
			data, err := io.ReadAll(file)
			if err != nil {
				return fmt.Errorf("reading the audit log %s: %w", p.path, err)
			}
			return eachLineBack(p.path, bytes.NewReader(data), int64(len(data)), visit)
		}
		return eachLineBack(p.path, file, size, visit)
	})
}

// with calls read with the open file and its size; -1: it is not a file with a size, such as a
// pipe.
func (p part) with(read func(file *os.File, size int64) error) error {
	if p.file != nil {
		return read(p.file, p.size)
	}
	file, err := os.Open(p.path)
	if p.mayEnd && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	if !info.Mode().IsRegular() {
		return read(file, -1)
	}
	return read(file, info.Size())
}

// eachLine calls visit for each line of a file, with its number from 1, without its newline. whole
// says whether the line had one.
func eachLine(path string, from io.Reader, visit func(n int, text []byte, whole bool) error) error {
	in := bufio.NewReaderSize(from, 64<<10)
	for n := 1; ; n++ {
		text, err := readLine(in)
		if len(text) > 0 {
			if err := visit(n, bytes.TrimSuffix(text, []byte("\n")), text[len(text)-1] == '\n'); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading the audit log %s, line %d: %w", path, n, err)
		}
	}
}

var errLong = errors.New("the line is too long for an audit log")

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > maxLine {
			return nil, errLong
		}
	}
}

// blockSize is what eachLineBack reads at once.
const blockSize = 256 << 10

// eachLineBack calls visit for each of the lines before size, the newest first. text is valid until
// visit returns.
func eachLineBack(path string, in io.ReaderAt, size int64, visit func(text []byte, whole bool) error) error {
	var data []byte // the lines from at on that were not visited
	for at := size; at > 0; {
		block := make([]byte, min(at, blockSize))
		at -= int64(len(block))
		if _, err := in.ReadAt(block, at); err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading the audit log %s: %w", path, err)
		}
		data = append(block, data...)
		for {
			begin := 1 + bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n')
			if begin == 0 && at > 0 { // the line begins in the block before
				break
			}
			if len(data) > 0 {
				text, whole := bytes.CutSuffix(data[begin:], []byte("\n"))
				if err := visit(text, whole); err != nil {
					return err
				}
			}
			if data = data[:begin]; begin == 0 {
				break
			}
		}
		if len(data) > maxLine {
			return fmt.Errorf("reading the audit log %s: %w", path, errLong)
		}
	}
	return nil
}
