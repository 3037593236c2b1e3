// Package history keeps on disk what happened to plugins, for after a restart of toolhost: their
// crashes, with the calls that were executed, and the consequences.
//
// It owns one file with one JSON entry per line, the oldest first. When the file is full, the older
// half is removed. An entry that cannot be written is lost, and a line that cannot be read is left
// out: no other part of toolhost depends on the history. The package does not choose what is kept.
package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolhost/toolhost/tool"
)

const (
	// maxBytes bounds the file. It is enough for some thousand crashes.
	maxBytes = 2 << 20
	// maxQueued bounds the entries that wait for the disk.
	maxQueued = 1024
)

// Entry is something that happened. Exactly one field is set.
type Entry struct {
	Event *tool.PluginEvent `json:"event,omitempty"`
	Exit  *Exit             `json:"exit,omitempty"`
}

// Exit is how an instance of a plugin ended.
type Exit struct {
	Plugin string `json:"plugin"`
	tool.PluginExit
}

// Log is an open history. All methods are safe for concurrent use. A nil Log keeps nothing.
type Log struct {
	path   string
	logger *slog.Logger
	past   []Entry
	queue  chan Entry
	size   int // of the file; used by run only

	mu     sync.Mutex
	closed bool
	done   chan struct{}
}

// Open reads the history in a file, and starts the goroutine that writes to it. The file and its
// folder need not exist. The caller must call Close.
func Open(path string, logger *slog.Logger) (*Log, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the history of plugins: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the history of plugins: %w", err)
	}
	l := &Log{path: path, logger: logger, queue: make(chan Entry, maxQueued), done: make(chan struct{}), size: len(data)}
	for line := range bytes.Lines(data) {
		var e Entry
		if json.Unmarshal(line, &e) == nil && (e.Event == nil) != (e.Exit == nil) {
			l.past = append(l.past, e)
		}
	}
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) { // toolhost was killed during a write
		if err := l.trim(); err != nil {
			return nil, fmt.Errorf("repairing the history of plugins: %w", err)
		}
	}
	go l.run() // ends with Close, which waits for it
	return l, nil
}

// Past returns what the file contained when it was opened, the oldest entry first. The caller must
// not change it.
func (l *Log) Past() []Entry {
	if l == nil {
		return nil
	}
	return l.past
}

// Append adds an entry. It does not wait for the disk: it drops the entry if too many entries wait.
func (l *Log) Append(e Entry) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	select {
	case l.queue <- e:
	default: // the disk is too slow, and toolhost must not wait for it
	}
}

// Close waits until all entries are written. It may be called more than once.
func (l *Log) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.queue)
	}
	l.mu.Unlock()
	<-l.done
}

func (l *Log) run() {
	defer close(l.done)
	failed := false
	for e := range l.queue {
		err := l.write(e)
		if err != nil && !failed { // only once: a full disk must not flood the log
			l.logger.Warn("what happens to plugins is not kept for after a restart", "error", err)
		}
		failed = err != nil
	}
}

func (l *Log) write(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if l.size+len(line) > maxBytes {
		if err := l.trim(); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := f.Write(append(line, '\n'))
	l.size += n
	return errors.Join(err, f.Close())
}

// trim keeps the newest complete lines, up to half of maxBytes.
func (l *Log) trim() error {
	data, err := os.ReadFile(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if over := len(data) - maxBytes/2; over > 0 {
		data = data[over:]
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	if err := os.WriteFile(l.path+".new", data, 0o600); err != nil {
		return err
	}
	l.size = len(data)
	return os.Rename(l.path+".new", l.path)
}
