package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	// inMemory is how much of the beginning of an output is kept in memory; what follows goes to a file.
	inMemory = 256 << 10
	// maxBegin and maxEnd are how much of an output is kept: its beginning, and, if there is more, its end. Together with
	// the other output it is well below what a toolhost takes as a result, 64 MiB by default.
	maxBegin = 7 << 20
	maxEnd   = 1 << 20
)

// capture keeps one output of a command in bounded memory: its beginning, its end, and how much it was. It is written
// from one goroutine, and read when that has ended. The zero value is ready.
type capture struct {
	notice func(chunk []byte) // is shown all that is written; nil: nobody is

	begin   bytes.Buffer
	spill   *os.File // what begin has no room for; has no name
	spilled int64
	end     []byte // a ring of maxEnd bytes, once begin and spill are full
	written int64  // in all
	failure error  // of the file: from then on the end alone is kept
}

// Write never fails: a command is not to notice how much is kept.
func (c *capture) Write(p []byte) (int, error) {
	if c.notice != nil {
		c.notice(p)
	}
	c.keepBegin(p[:min(int64(len(p)), max(0, maxBegin-c.written))])
	c.keepEnd(p)
	return len(p), nil
}

func (c *capture) keepBegin(p []byte) {
	n := min(len(p), inMemory-c.begin.Len())
	c.begin.Write(p[:n])
	if p = p[n:]; len(p) == 0 || c.failure != nil {
		return
	}
	if c.spill == nil {
		if c.spill, c.failure = unnamedFile(); c.failure != nil {
			return
		}
	}
	n, c.failure = c.spill.Write(p)
	c.spilled += int64(n)
}

// keepEnd keeps what is beyond the beginning, or may be, should the file fail.
func (c *capture) keepEnd(p []byte) {
	at := c.written
	c.written += int64(len(p))
	if c.written <= c.kept() {
		return
	}
	if c.end == nil {
		c.end = make([]byte, maxEnd)
	}
	if skip := len(p) - maxEnd; skip > 0 {
		p, at = p[skip:], at+int64(skip)
	}
	for len(p) > 0 {
		n := copy(c.end[at%maxEnd:], p)
		p, at = p[n:], at+int64(n)
	}
}

// kept returns how many bytes of the beginning are kept.
func (c *capture) kept() int64 { return int64(c.begin.Len()) + c.spilled }

// bytes returns what is kept of the output, with a line that says what is not, and how many bytes those are.
func (c *capture) bytes() (text []byte, dropped int64, err error) {
	text = make([]byte, c.kept(), c.kept()+min(c.written-c.kept(), maxEnd)+200)
	copy(text, c.begin.Bytes())
	if c.spilled > 0 {
		if _, err := c.spill.ReadAt(text[c.begin.Len():], 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, fmt.Errorf("reading back the output of the command: %w", err)
		}
	}
	rest := c.written - c.kept()
	if rest == 0 {
		return text, 0, nil
	}
	dropped = max(0, rest-maxEnd)
	if dropped > 0 {
		text = fmt.Appendf(text, "\n[%d bytes of this output were dropped here: %s]\n", dropped, c.reason())
	}
	for at := c.written - (rest - dropped); at < c.written; {
		n := min(c.written-at, maxEnd-at%maxEnd)
		text = append(text, c.end[at%maxEnd:at%maxEnd+n]...)
		at += n
	}
	return text, dropped, nil
}

func (c *capture) reason() string {
	if c.failure != nil {
		return "they could not be kept: " + c.failure.Error()
	}
	return fmt.Sprintf("only the first %d MiB and the last %d MiB are kept; have the command write to a file to keep all", maxBegin>>20, maxEnd>>20)
}

// Close gives the file back.
func (c *capture) Close() error {
	if c.spill == nil {
		return nil
	}
	return c.spill.Close()
}

// unnamedFile returns a file for reading and writing that is gone when it is closed.
func unnamedFile() (*os.File, error) {
	file, err := os.CreateTemp("", "shell-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
