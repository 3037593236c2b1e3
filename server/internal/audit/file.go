package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/toolhost/toolhost/internal/store/filelock"
)

// Config sets the file of a log and what it keeps.
type Config struct {
	// File is the path of the log. Open creates it with mode 0600 if it does not exist, and its
	// folder with mode 0700. Required.
	File string
	// All makes the log keep every decision. Otherwise it leaves out calls that are allowed without
	// a rule.
	All bool
	// MaxBytes is the size from which the log goes on in a new file. 0: no limit.
	MaxBytes int64
	// KeepFiles is the number of former files that stay; see Files. 0: all.
	KeepFiles int
	// ToOwner makes Open give a new file to the owner of its folder, if root creates it. It is for
	// commands: the server of another user could not open a log that root created.
	ToOwner bool
}

// Log is an open log. All methods are safe for concurrent use, and several processes may write to
// one file: a server, and the commands that change its tokens.
//
// Each writer locks the file, reads where the chain ends, and appends its line. Only then it
// unlocks the file. So each line follows the newest one. When a writer goes on in a new file, it
// holds the lock of the old file until the new one has its first line. Another writer that waits
// for that lock finds out that the name leads to another file, and goes on there. Without the lock,
// it would append its line to a file that the chain has left, and Verify would report a change.
type Log struct {
	config Config
	path   string
	all    bool
	// turn has one token. The goroutine that has put it into the channel may write. Unlike a mutex,
	// a context can end the wait. Lines are written one at a time, because each contains the digest
	// of the line before it.
	turn chan struct{}
	file *os.File // nil: closed
	size int64    // of the file after the last line that this log wrote or read
	end  position // of the chain
	torn bool     // the file ends with an incomplete line

	failure atomic.Pointer[error] // see Failure
	head    atomic.Pointer[Head]  // see Head

	watching sync.Mutex
	changed  chan struct{} // closed after the next line; nil: nothing waits
}

var errClosed = errors.New("the log is closed")

// Open opens a log, or creates it. The caller must close it.
func Open(c Config) (*Log, error) {
	l := &Log{config: c, path: c.File, all: c.All, turn: make(chan struct{}, 1)}
	if err := os.MkdirAll(filepath.Dir(c.File), 0o700); err != nil {
		return nil, l.failed("opening", err)
	}
	if err := l.open(); err != nil {
		return nil, l.failed("opening", err)
	}
	return l, nil
}

// open opens the file and replaces the open one. If that fails, the open one stays. If the file is
// empty and there was another one, the chain goes on in the new one.
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
	info, err := file.Stat()
	if err == nil && info.Size() == 0 && l.config.ToOwner && os.Geteuid() == 0 {
		err = giveToOwner(filepath.Dir(l.path), file)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	end, torn, err := lastPosition(file, info.Size())
	if err != nil {
		return errors.Join(err, file.Close())
	}
	before, old := l.end, l.file
	l.file, l.size, l.end, l.torn = file, info.Size(), end, torn
	if old != nil {
		defer old.Close() // releases its lock; nothing is lost, because each line was written when Record returned
	}
	if l.size > 0 {
		return nil
	}
	reason := "the log goes on in a new file"
	if old == nil {
		reason = "there was no file, or it was empty; the log goes on after the newest former file"
	}
	return l.begin(before, reason)
}

// begin writes the first line of the open file, unless another writer is faster. before is the end
// of the chain as far as this log has read it. Other writers may have left further files since
// then. So begin looks for the newest one while it holds the lock of the open file, which has no
// line yet.
func (l *Log) begin(before position, reason string) error {
	unlock, err := l.catchUp()
	if err != nil {
		return err
	}
	defer unlock()
	if l.size > 0 {
		return nil
	}
	former, err := l.formerEnd()
	if err != nil {
		return err
	}
	if former.seq > before.seq {
		before = former
	}
	if before.seq == 0 {
		return nil // the log has no line at all
	}
	l.end = before
	e := l.lineOf(Event{Kind: OfRotation, Act: "rotate", Outcome: Allowed, Reason: reason})
	e.link = link{l.end.seq + 1, l.end.prev}
	return l.put(e)
}

// giveToOwner gives a file to the owner of its folder.
func giveToOwner(folder string, file *os.File) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 {
		return nil
	}
	return file.Chown(int(stat.Uid), int(stat.Gid))
}

// append gives a line its place in the chain, and writes it.
func (l *Log) append(ctx context.Context, at *link, line any) error {
	if err := l.await(ctx); err != nil {
		return l.failed("writing", err)
	}
	defer func() { <-l.turn }()
	err := l.write(at, line)
	l.failure.Store(&err)
	return err
}

// Failure returns why the log could not write its latest line; nil: it could.
func (l *Log) Failure() error {
	if err := l.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Head returns the newest line that this log has written; zero: none. The log may be closed.
func (l *Log) Head() Head {
	if head := l.head.Load(); head != nil {
		return *head
	}
	return Head{}
}

// write is append for the goroutine whose turn it is.
func (l *Log) write(at *link, line any) error {
	if l.file == nil {
		return l.failed("writing", errClosed)
	}
	unlock, err := l.catchUp()
	for range maxMoves {
		if err != nil || !l.moved() {
			break
		}
		unlock()
		if err = l.open(); err == nil {
			unlock, err = l.catchUp()
		}
	}
	if err != nil {
		return l.failed("writing", err)
	}
	defer func() { unlock() }()
	*at = link{l.end.seq + 1, l.end.prev}
	if err := l.put(line); err != nil {
		return l.failed("writing", err)
	}
	if l.config.MaxBytes > 0 && l.size >= l.config.MaxBytes {
		l.rotate()
	}
	return nil
}

// catchUp locks the file and reads where its chain ends, if another process has written to it. A
// file that has become smaller was changed by another program: the chain goes on from the lines
// that are gone, so that Verify finds the gap.
func (l *Log) catchUp() (unlock func(), err error) {
	file := l.file
	if err := filelock.Lock(file); err != nil {
		return nil, err
	}
	unlock = func() { _ = filelock.Unlock(file) } // fails for a file that rotate has closed
	info, err := file.Stat()
	if err == nil && info.Size() > l.size {
		var end position
		if end, l.torn, err = lastPosition(l.file, info.Size()); err == nil {
			l.end = position{max(end.seq, l.end.seq), end.prev}
		}
	}
	if err != nil {
		unlock()
		return nil, err
	}
	l.size = info.Size()
	return unlock, nil
}

// put appends a line with one system call.
func (l *Log) put(line any) error {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(line); err != nil { // such as a time after the year 9999
		return err
	}
	text := out.String()
	lead := 0
	if l.torn {
		text, lead = "\n"+text, 1
	}
	n, err := l.file.WriteString(text)
	l.size += int64(n)
	if n > lead {
		l.end = l.end.follow([]byte(strings.TrimSuffix(text[lead:n], "\n")))
	}
	if n > 0 {
		l.torn = text[n-1] != '\n'
	}
	if err != nil {
		return err
	}
	l.head.Store(&Head{l.end.seq, l.end.prev})
	l.announce()
	return nil
}

// await waits for the turn. If the turn is free, it takes it even if ctx has ended: the log must
// have a decision even if the caller gave the call up.
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
	l.announce()
	if err != nil {
		return l.failed("closing", err)
	}
	return nil
}

// announce wakes what waits for the next line.
func (l *Log) announce() {
	l.watching.Lock()
	defer l.watching.Unlock()
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// Changed returns a channel that is closed after the next line, and when the log is closed.
func (l *Log) Changed() <-chan struct{} {
	l.watching.Lock()
	defer l.watching.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

func (l *Log) failed(doing string, err error) error {
	return fmt.Errorf("%s the audit log %s: %w", doing, l.path, err)
}
