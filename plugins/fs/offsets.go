package main

import (
	"bufio"
	"io"
	"sync"
	"time"

	"github.com/toolhost/toolhost/sdk/workspace"
)

const (
	markEvery = 256 << 10 // bytes between two remembered positions, which a page may have to scan
	maxMarks  = 1 << 14   // positions of one file, 400 KB; a file of more than 4 GiB is scanned from the last
	maxFiles  = 8         // files with remembered positions
	// settled is how long ago a file must have changed, so that a change after the reading is seen:
	// file systems note times in steps.
	settled = 2 * time.Second
)

// offsets remembers where lines of large files begin, so that a page far behind the beginning does
// not cost a scan of all before it. Its memory is bounded. The positions belong to one version of a
// file. The zero value is ready, and may be used concurrently.
type offsets struct {
	mu    sync.Mutex
	files []fileMarks // the last used one is the last
}

// fileMarks are the positions of one version of a file, in order.
type fileMarks struct {
	path, version string
	marks         []mark
}

// mark is a position in a file: the byte before which a character of a line is.
type mark struct {
	line, column int // from 1
	offset       int64
}

func (m mark) before(line, column int) bool {
	return m.line < line || m.line == line && m.column <= column
}

// nearest returns the last known position that is not behind a character.
func (o *offsets) nearest(path, version string, line, column int) mark {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := mark{line: 1, column: 1}
	for _, m := range o.of(path, version).marks {
		if !m.before(line, column) {
			break
		}
		found = m
	}
	return found
}

// add remembers positions behind those that are known.
func (o *offsets) add(path, version string, marks []mark) {
	o.mu.Lock()
	defer o.mu.Unlock()
	file := o.of(path, version)
	for _, m := range marks {
		if n := len(file.marks); n < maxMarks && (n == 0 || m.offset >= file.marks[n-1].offset+markEvery) {
			file.marks = append(file.marks, m)
		}
	}
}

// of returns the entry of a file, as the last used one.
func (o *offsets) of(path, version string) *fileMarks {
	file := fileMarks{path: path, version: version}
	kept := o.files[:0]
	for _, f := range o.files {
		switch {
		case f.path == path && f.version == version:
			file = f
		default:
			kept = append(kept, f)
		}
	}
	if len(kept) >= maxFiles {
		kept = append(kept[:0], kept[len(kept)-maxFiles+1:]...)
	}
	o.files = append(kept, file)
	return &o.files[len(o.files)-1]
}

// at moves a reader of a file's text to the nearest known position before the first character of a
// page. keep remembers what the reader has passed then.
func (o *offsets) at(file workspace.File, in readInput, r *lineReader) (keep func(), err error) {
	info := file.Info()
	seeker, can := file.(io.Seeker)
	if !can || info.Size <= markEvery || time.Since(info.ModTime) < settled {
		return func() {}, nil
	}
	if at := o.nearest(in.Path, info.Version, in.Offset, in.Column); at.offset > 0 {
		if _, err := seeker.Seek(at.offset, io.SeekStart); err != nil {
			return nil, err
		}
		r.buffer = bufio.NewReaderSize(file, maxText+1)
		r.mark = at
	}
	r.marked, r.marks = r.mark.offset, []mark{}
	return func() { o.add(in.Path, info.Version, r.marks) }, nil
}
