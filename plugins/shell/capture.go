package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	// inMemory is the size of the beginning of an output that stays in memory. The rest goes to a
	// file.
	inMemory = 256 << 10
	// maxBegin and maxEnd limit the parts of an output that are kept: its beginning and, if it is
	// longer, its end. Both outputs together stay well below toolhost's default limit of a result,
	// 64 MiB.
	maxBegin = 7 << 20
	maxEnd   = 1 << 20
)

// capture keeps one output of a command in bounded memory: its beginning, its end, and its size.
// One goroutine writes it. It may be read after that goroutine has ended. The zero value is ready
// to use.
type capture struct {
	notice func(chunk []byte) // receives everything that is written; may be nil

	begin   bytes.Buffer
	spill   *os.File // what does not fit into begin; an unlinked file
	spilled int64
	end     []byte // a ring buffer of maxEnd bytes, used when begin and spill are full
	written int64  // total number of bytes
	failure error  // of the file; after it only the end is kept
}

// Write never fails, so that the command does not notice the limits.
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

// keepEnd keeps bytes after the beginning. It also keeps bytes that the file should hold, in case
// the file fails.
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

// kept returns the number of bytes of the beginning that are kept.
func (c *capture) kept() int64 { return int64(c.begin.Len()) + c.spilled }

// bytes returns the kept output. A line in it says how many bytes are missing, and dropped is their
// number.
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

// Close closes the file, which deletes it.
func (c *capture) Close() error {
	if c.spill == nil {
		return nil
	}
	return c.spill.Close()
}

// unnamedFile returns a file for reading and writing that disappears when it is closed.
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
