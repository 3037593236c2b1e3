// Package sqlite is a runstore.Store in one SQLite file.
//
// When Append returns, the batch survives kill -9. It also survives a power failure if the file
// system and the disk do not lose synced data: the file is in WAL mode, and every commit is synced
// (synchronous=FULL). If the end of the write-ahead log is damaged, only the batches in that part
// are lost. Batches that wait at the same time share a commit.
//
// Several processes can use one file. SQLite's lock admits one writer at a time.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

const (
	// busyPause is the pause between attempts for locks on which SQLite does not wait.
	busyPause = 10 * time.Millisecond
	// maxReaders is the number of connections for reading. Further readers wait.
	maxReaders = 4
	// queueLength is the number of batches that wait for the writer, besides one in each blocked
	// Append.
	queueLength = 64
)

// ErrClosed is the error of a store after Close.
var ErrClosed = errors.New("the journal is closed")

var (
	_ runstore.Store  = (*Store)(nil)
	_ runstore.Claims = (*Store)(nil)
)

// Store keeps journals in a file. The caller must call Close.
type Store struct {
	path    string
	readers *sql.DB
	writer  *sql.DB // one connection, for the write loop only
	reads   reads
	writes  writes
	claims  claims

	queue   chan *request
	closing chan struct{} // closed by Close
	close   sync.Once
	stopped chan struct{} // closed after the write loop's last answer
	err     error         // the result of Close
}

// Open opens the journal in the file path. It creates the file (mode 0600) and its folder (mode
// 0700) if they do not exist. It starts a goroutine, which Close stops.
func Open(ctx context.Context, path string) (*Store, error) {
	if err := prepare(path); err != nil {
		return nil, fmt.Errorf("opening journal %s: %w", path, err)
	}
	s := &Store{path: path, claims: claims{path: path + ClaimsSuffix}, queue: make(chan *request, queueLength), closing: make(chan struct{}), stopped: make(chan struct{})}
	var err error
	if s.writer, err = sqlitefile.Connect(path, 1, "immediate", "journal_mode(WAL)"); err != nil {
		return nil, fmt.Errorf("opening journal %s: %w", path, err)
	}
	if err := patiently(ctx, func() error { return layout().Migrate(ctx, s.writer) }); err != nil {
		return nil, errors.Join(fmt.Errorf("opening journal %s: %w", path, explain(ctx, s.writer, err)), s.writer.Close())
	}
	if s.readers, err = sqlitefile.Connect(path, maxReaders, "deferred"); err != nil {
		return nil, errors.Join(fmt.Errorf("opening journal %s: %w", path, err), s.writer.Close())
	}
	if err := errors.Join(prepareAll(ctx, s.writer, s.writes.texts()), prepareAll(ctx, s.readers, s.reads.texts())); err != nil {
		return nil, errors.Join(fmt.Errorf("opening journal %s: %w", path, err), s.release())
	}
	go s.writeLoop() // the store owns it; Close stops it and waits
	return s, nil
}

// Check returns an error if a file that no Store uses is not a journal, is damaged, or was written
// by a newer agentd. It changes nothing.
func Check(ctx context.Context, path string) error {
	if err := layout().Check(ctx, path); err != nil {
		return fmt.Errorf("checking the journal %s: %w", path, err)
	}
	return nil
}

// Close finishes the appends in progress, refuses others, and closes the file. It may be called
// more than once.
func (s *Store) Close() error {
	s.close.Do(func() {
		close(s.closing)
		<-s.stopped
		s.err = s.release()
	})
	return s.err
}

// release closes the connections with their statements, and gives up the claims.
func (s *Store) release() error {
	return errors.Join(s.readers.Close(), s.writer.Close(), s.claims.close())
}

func prepare(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// patiently repeats an action that fails because another process has locked the file. SQLite waits
// for most locks without it, but not for those that switch a new file to WAL mode.
func patiently(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(sqlitefile.BusyTimeout)
	for {
		err := try()
		busy, ok := errors.AsType[*driver.Error](err)
		if !ok || busy.Code()&0xff != sqlite3.SQLITE_BUSY || time.Now().After(deadline) {
			return err
		}
		timer := time.NewTimer(busyPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}
