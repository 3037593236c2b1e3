package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/toolhost/toolhost/plugins/fs/charset"
)

// lineReader reads lines of any length in bounded memory: it holds a buffer, not the file. It does
// not use the size of the file, because files in /proc have the size 0.
type lineReader struct {
	ctx    context.Context
	buffer *bufio.Reader // larger than maxText bytes
	mark   mark          // the position of the next character
	// marks are positions that it has passed, and marked is the offset of the last one. It adds none
	// if marks is nil.
	marks  []mark
	marked int64
}

// passed counts bytes that were read: whole lines, or characters of a line.
func (r *lineReader) passed(bytes, lines, characters int) {
	r.mark.offset += int64(bytes)
	r.mark.line += lines
	if lines > 0 {
		r.mark.column = 1
	}
	r.mark.column += characters
	if r.marks != nil && (lines > 0 || characters > 0) && r.mark.offset >= r.marked+markEvery {
		r.marks = append(r.marks, r.mark)
		r.marked = r.mark.offset
	}
}

// excerpt returns lines from first on, starting at a column of the first line, within limit and
// maxText.
func (r *lineReader) excerpt(first, column, limit int) (*excerpt, error) {
	e := &excerpt{first: first, last: first - 1, column: column}
	before := r.mark.line - 1
	skipped, err := r.skip(first - r.mark.line)
	if errors.Is(err, io.EOF) {
		e.total = before + skipped
		return e, nil
	}
	if err == nil {
		err = r.skipRunes(column - r.mark.column)
	}
	for err == nil && e.last-e.first+1 < limit {
		var whole bool
		whole, err = r.copyLine(&e.text, maxText-e.text.Len(), e.last < e.first)
		if err != nil {
			break
		}
		if !whole {
			e.inside = e.last < e.first
			e.more = !e.inside
			if e.inside {
				e.last++
			}
			return e, nil
		}
		e.last++
	}
	if err == nil {
		_, err = r.buffer.Peek(1)
		e.more = err == nil
	}
	if errors.Is(err, io.EOF) {
		e.total = e.last
		err = nil
	}
	return e, err
}

// skip skips lines. It returns the number of skipped lines, and io.EOF if there were fewer.
func (r *lineReader) skip(lines int) (int, error) {
	for n := 0; n < lines; n++ {
		some := false
		for {
			if err := r.ctx.Err(); err != nil {
				return n, err
			}
			piece, err := r.buffer.ReadSlice('\n')
			some = some || len(piece) > 0
			r.mark.offset += int64(len(piece))
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if errors.Is(err, io.EOF) && some {
				n++
			}
			if err != nil {
				return n, err
			}
			r.passed(0, 1, 0)
			break
		}
	}
	return lines, nil
}

// skipRunes skips characters up to the end of the line. The end of the file is not an error.
func (r *lineReader) skipRunes(runes int) error {
	for n := range runes {
		if n%maxText == 0 {
			if err := r.ctx.Err(); err != nil {
				return err
			}
		}
		c, size, err := r.buffer.ReadRune()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if c == '\n' {
			return r.buffer.UnreadRune()
		}
		r.passed(size, 0, 1)
	}
	return nil
}

// copyLine appends the next line to text if it has at most room bytes, and reports whether it did.
// If cut is set, it appends the beginning of a longer line. It returns io.EOF if there is no line.
func (r *lineReader) copyLine(text *strings.Builder, room int, cut bool) (whole bool, err error) {
	if err := r.ctx.Err(); err != nil {
		return false, err
	}
	// The buffer is larger than maxText, so a line that does not fit in it exceeds any room.
	line, err := r.buffer.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return false, io.EOF
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull):
		return false, err
	case len(line) <= room && !errors.Is(err, bufio.ErrBufferFull):
		text.Write(line)
		r.passed(len(line), 1, 0)
		return true, nil
	}
	if cut {
		text.Write(charset.WithoutPartialRune(line[:min(len(line), room)]))
	}
	return false, nil
}
