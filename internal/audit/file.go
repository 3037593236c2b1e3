package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Config sets the file of a log and what it keeps.
type Config struct {
	// File is the path of the log. Open creates it with mode 0600 if it does not exist, and its
	// folder with mode 0700. Required.
	File string
	// All makes the log keep every decision. Otherwise it leaves out calls that are allowed without
	// a rule.
	All bool
}

// Log is an open log. All methods are safe for concurrent use.
type Log struct {
	path string
	all  bool
	// turn has one token. The goroutine that has put it into the channel may write. Unlike a mutex,
	// a context can end the wait. Lines are written one at a time, because a full disk can leave an
	// incomplete line, which must be terminated before the next line.
	turn chan struct{}
	file *os.File // nil: closed
	torn bool     // the file ends with an incomplete line
}

var errClosed = errors.New("the log is closed")

// Open opens a log, or creates it. The caller must close it.
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

// open opens the file and replaces the open one. If that fails, the open one stays.
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
		_ = l.file.Close() // nothing is lost: each line was written when Record returned
	}
	l.file, l.torn = file, torn
	return nil
}

// endsTorn reports whether a file ends with an incomplete line.
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

// write appends a text with one system call.
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

// await waits for the turn. It takes a free turn even if ctx has ended: a decision was made even if
// the call was given up.
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

// Reopen continues in a new file of the same name after another program has moved the old file. If
// the new file cannot be created, the log continues in the old one. Reopen waits for the line that
// is being written.
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

// Close closes the log, and Record fails from then on. It waits for the line that is being written.
// It may be called more than once.
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
