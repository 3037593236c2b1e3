package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Config says where a log is and what it keeps.
type Config struct {
	// File is made with mode 0600 if it does not exist, its folder with 0700. Required.
	File string
	// All keeps every decision. Otherwise plain calls, allowed without a rule, are left out.
	All bool
}

// Log is a log that is open. Its methods are safe for concurrent use.
type Log struct {
	path string
	all  bool
	// turn is held by who writes, and can be waited for with a context. Lines are written one at a time because the half
	// line that a full disk leaves has to be ended before another follows.
	turn chan struct{}
	file *os.File // nil: closed
	torn bool     // the file does not end with a whole line
}

var errClosed = errors.New("the log is closed")

// Open opens a log, or begins one. Close it.
func Open(c Config) (*Log, error) {
	l := &Log{path: c.File, all: c.All, turn: make(chan struct{}, 1)}
	if err := os.MkdirAll(filepath.Dir(c.File), 0o700); err != nil {
		return nil, l.failed("opening", err)
	}
	if err := l.open(); err != nil {
		return nil, l.failed("opening", err)
	}
	return l, nil
}

// open opens the file in the place of the one that is open, which stays if that fails.
func (l *Log) open() error {
	if info, err := os.Stat(l.path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for its reader
		return errors.New("it is not a regular file")
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	torn, err := endsTorn(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if l.file != nil {
		_ = l.file.Close() // each of its lines was acknowledged when it was written
	}
	l.file, l.torn = file, torn
	return nil
}

// endsTorn reports whether the last line of a file has no end.
func endsTorn(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false, err
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], info.Size()-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// write appends a text in one piece.
func (l *Log) write(ctx context.Context, text string) error {
	if err := l.await(ctx); err != nil {
		return l.failed("writing", err)
	}
	defer func() { <-l.turn }()
	if l.file == nil {
		return l.failed("writing", errClosed)
	}
	if l.torn {
		text = "\n" + text
	}
	n, err := l.file.WriteString(text)
	if n > 0 {
		l.torn = text[n-1] != '\n'
	}
	if err != nil {
		return l.failed("writing", err)
	}
	return nil
}

// await waits for the turn. One that is free is taken also if ctx has ended: that a call was given up does not make what
// was decided about it untrue.
func (l *Log) await(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reopen goes on in a new file of the same name, after the old one was moved away. If there can be none, the log goes on
// in the old one. It waits for the line that is being written.
func (l *Log) Reopen() error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if l.file == nil {
		return l.failed("opening", errClosed)
	}
	if err := l.open(); err != nil {
		return l.failed("opening", err)
	}
	return nil
}

// Close ends the log; whoever writes later gets an error. It waits for the line that is being written. It may be called
// more than once.
func (l *Log) Close() error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	if err != nil {
		return l.failed("closing", err)
	}
	return nil
}

func (l *Log) failed(doing string, err error) error {
	return fmt.Errorf("%s the audit log %s: %w", doing, l.path, err)
}
