// Package history keeps on disk what happened to plugins and their calls, so that an operator can
// see it after a restart of toolhost: events, crashes with the calls that were executed, calls that
// failed, and statistics by hour.
//
// It owns one SQLite file, history.db, and the copy of its calls and statistics in a database that
// toolhosts share. Age, the number of rows and their bytes bound the file. No other part of
// toolhost depends on its content: an entry that cannot be written is lost, and a damaged file is
// set aside. The package does not choose what is kept.
package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/tool"
)

const (
	// DefaultKeep is how long entries are kept if Config says nothing.
	DefaultKeep = 30 * 24 * time.Hour
	// maxQueued bounds the entries that wait for the disk.
	maxQueued = 4096
	// maxBatch bounds the entries of one transaction.
	maxBatch = 512
)

// Entry is something that happened. Exactly one field is set.
type Entry struct {
	Event *tool.PluginEvent
	Exit  *Exit
	Call  *tool.CallRecord // a call that has ended
	Hour  *Hour            // is added to what the file has for that hour and tool
}

// Exit is how an instance of a plugin ended.
type Exit struct {
	Plugin string `json:"plugin"`
	tool.PluginExit
}

// bounded returns the entry with at most maxExitLines bytes of lines.
func (e Entry) bounded() Entry {
	if e.Exit == nil {
		return e
	}
	exit := *e.Exit
	exit.Exit.LastStderr = crashoutput.Shorten(exit.Exit.LastStderr, maxExitLines)
	e.Exit = &exit
	return e
}

// Config says where a history is and how much it keeps.
type Config struct {
	Path   string        // of the file; the file and its folder need not exist
	Keep   time.Duration // 0 means DefaultKeep
	Events int           // the most events that TakePast returns; 0 means maxEvents
	Exits  int           // the most exits of one plugin that TakePast returns; 0 means maxExits
	Logger *slog.Logger  // required
	Share  *Sharing      // nil: this toolhost shares its history with no other one
}

// Log is an open history. All methods are safe for concurrent use. A nil Log keeps nothing and has
// nothing.
type Log struct {
	cfg    Config
	writer *sql.DB // used by run only, after Open
	reader *sql.DB
	queue  chan message

	shared  *shared      // nil: see Config.Share
	changed atomic.Int64 // the first hour that has changed since the last copy; noHour: none

	reported time.Time // when run logged an error last

	mu      sync.Mutex
	past    []Entry // until TakePast
	closed  bool
	dropped int // entries for which the queue had no room, since the last report
	done    chan struct{}
}

// message is an entry for the file, or a request to report when all earlier entries are written.
type message struct {
	entry   Entry
	written chan<- struct{} // nil for an entry
}

// Open opens a history, and starts the goroutine that writes to it. It sets a
// file that is damaged or has another schema aside, under a name with the suffix ".damaged", and
// begins a new one. It refuses the file of another
// program or of a newer toolhost. The caller must call Close.
func Open(ctx context.Context, cfg Config) (*Log, error) {
	if cfg.Keep == 0 {
		cfg.Keep = DefaultKeep
	}
	if cfg.Events == 0 {
		cfg.Events = maxEvents
	}
	if cfg.Exits == 0 {
		cfg.Exits = maxExits
	}
	if err := os.MkdirAll(filepath.Dir(cfg.Path), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the history: %w", err)
	}
	l, err := open(ctx, cfg)
	if damaged(err) {
		aside := cfg.Path + ".damaged"
		cfg.Logger.Warn("the history cannot be used; a new one begins", "file", cfg.Path, "kept_as", aside, "error", err)
		if err := setAside(cfg.Path, aside); err != nil {
			return nil, fmt.Errorf("setting the damaged history aside: %w", err)
		}
		l, err = open(ctx, cfg)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the history %s: %w", cfg.Path, err)
	}
	if cfg.Share != nil {
		if err := l.share(ctx, *cfg.Share); err != nil {
			return nil, errors.Join(err, l.closeFiles())
		}
	}
	go l.run() // ends with Close, which waits for it
	return l, nil
}

// setAside renames a database. Its log and index belong to the damaged content, and are removed.
func setAside(path, aside string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(path, aside)
}

func open(ctx context.Context, cfg Config) (_ *Log, err error) {
	l := &Log{cfg: cfg, queue: make(chan message, maxQueued), done: make(chan struct{})}
	l.changed.Store(noHour)
	defer func() {
		if err != nil {
			err = errors.Join(err, l.closeFiles())
		}
	}()
	// Creates the file with the mode that it must have: SQLite would use the umask.
	f, err := os.OpenFile(cfg.Path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	// A commit is not synced. After a crash of the machine the last seconds may be missing, but the
	// file is whole.
	pragmas := []string{"journal_mode(WAL)", "synchronous(NORMAL)"}
	if info.Size() == 0 { // journal_mode writes to the file, and auto_vacuum has no effect later
		pragmas = append([]string{"auto_vacuum(INCREMENTAL)"}, pragmas...)
	}
	if l.writer, err = sqlitefile.Connect(cfg.Path, 1, "immediate", pragmas...); err != nil {
		return nil, err
	}
	if err := layout.Migrate(ctx, l.writer); err != nil {
		return nil, err
	}
	if l.reader, err = sqlitefile.Connect(cfg.Path, 1, "deferred", "query_only(1)"); err != nil {
		return nil, err
	}
	if err := l.takeEarlier(ctx); err != nil {
		return nil, err
	}
	if err := prune(ctx, l.writer, cfg.Keep, time.Now()); err != nil {
		return nil, err
	}
	l.past, err = l.readPast(ctx)
	return l, err
}

// TakePast returns the newest events and exits that the file contained when it was opened, the
// oldest of each kind first. Later calls return nothing, because the log does not keep them in
// memory.
func (l *Log) TakePast() []Entry {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	past := l.past
	l.past = nil
	return past
}

// Append adds an entry. It does not wait for the disk: if too many entries wait, the entry is lost,
// and the log reports how many were. Of the last lines of an exit, Append keeps maxExitLines bytes.
// The caller must not change the entry afterwards.
func (l *Log) Append(e Entry) {
	if l == nil {
		return
	}
	e = e.bounded()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	select {
	case l.queue <- message{entry: e}:
	default:
		l.dropped++
	}
}

// Flush waits until the file has all entries that were appended before. It returns an error if ctx
// ends first.
func (l *Log) Flush(ctx context.Context) error {
	if l == nil {
		return nil
	}
	written := make(chan struct{})
	if err := l.request(ctx, written); err != nil {
		return err
	}
	select {
	case <-written:
		return nil
	case <-l.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *Log) request(ctx context.Context, written chan<- struct{}) error {
	for {
		l.mu.Lock()
		if l.closed {
			l.mu.Unlock()
			return nil // Close writes everything
		}
		select {
		case l.queue <- message{written: written}:
			l.mu.Unlock()
			return nil
		default:
		}
		l.mu.Unlock()
		select { // the queue is full: the writer takes up to maxBatch entries at a time
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Close waits until all entries are written. It may be called more than once.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	first := !l.closed
	if first {
		l.closed = true
		close(l.queue)
	}
	l.mu.Unlock()
	<-l.done
	if !first {
		return nil
	}
	if l.shared != nil {
		l.shared.close()
	}
	return l.closeFiles()
}

func (l *Log) closeFiles() error {
	var errs []error
	for _, db := range []*sql.DB{l.reader, l.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}
