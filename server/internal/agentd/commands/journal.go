package commands

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// journal is an open journal, in a file or in a database.
type journal interface {
	runstore.Store
	runstore.Claims
	runstore.Outbox
	Close() error
}

// journalPlace is where the runs are kept, a file or a database, and what lies beside a file: the
// lock of a server and the records of calls.
type journalPlace struct {
	flag       string // --journal; empty: not set
	configured string // in the configuration; empty: not set
	state      string // the folder of agentd's state
}

// database returns the URL of the database that keeps the runs, or "" if a file does.
func (j journalPlace) database() (string, error) {
	at := cmp.Or(j.flag, j.configured)
	if err := agentconfig.CheckJournal(at); err != nil {
		return "", cli.Usage("--journal: %w", err)
	}
	if !strings.Contains(at, "://") {
		return "", nil
	}
	return at, nil
}

// journalPath returns the file that keeps the runs. It is a usage error if a database does.
func (j journalPlace) journalPath() (string, error) {
	url, err := j.database()
	if err != nil {
		return "", err
	}
	if url != "" {
		return "", cli.Usage("the runs are in the database %s, and this command needs a journal in a file: "+
			"use an `agentd serve` of the database with --addr or --target, and PostgreSQL's own tools for backups", database.Name(url))
	}
	switch {
	case j.flag != "":
		path, err := filepath.Abs(j.flag)
		if err != nil {
			return "", fmt.Errorf("--journal: %w", err)
		}
		return path, nil
	case j.configured != "":
		return j.configured, nil
	}
	return filepath.Join(j.state, journalName), nil
}

// journalName is the name of the journal in the state folder.
const journalName = "runs.db"

// openJournal opens the journal in a file for a command that works on its runs.
func (j journalPlace) openJournal(ctx context.Context) (*openedJournal, error) {
	path, err := j.journalPath()
	if err != nil {
		return nil, err
	}
	if err := trust.Secure(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return openLocked(ctx, path)
}

// openServed opens the journal for a server. It prevents a second server of the same runs in a
// file; those in a database may have several. reached is where these reach this one; empty:
// nowhere.
func (j journalPlace) openServed(ctx context.Context, reached string, log *slog.Logger) (journal, error) {
	url, err := j.database()
	if err != nil {
		return nil, err
	}
	switch {
	case url == "" && reached != "":
		return nil, cli.Usage("only agentds of one database reach each other; name it with --journal, or remove nodes from the configuration")
	case url == "":
		return j.openServedFile(ctx)
	}
	store, err := postgres.Open(ctx, database.Config{URL: url, Application: program, Log: log})
	if err != nil {
		return nil, err
	}
	store.Reach(reached)
	if err := store.Serve(ctx); err != nil {
		return nil, closeAll(err, store.Close)
	}
	return store, nil
}

// nodeOf returns the id that other agentds know of the one with a journal; empty: there are none.
func nodeOf(store journal) string {
	if shared, ok := store.(*postgres.Store); ok {
		return shared.NodeID()
	}
	return ""
}

// lockedJournal is the journal of a server in a file.
type lockedJournal struct {
	*openedJournal
	unlock func()
}

// Close closes the journal, and then lets another server open it. It may be called more than once.
func (j *lockedJournal) Close() error {
	err := j.openedJournal.Close()
	j.unlock()
	return err
}

func (j journalPlace) openServedFile(ctx context.Context) (journal, error) {
	store, err := j.openJournal(ctx)
	if err != nil {
		return nil, err
	}
	unlock, err := j.lockJournal()
	if err != nil {
		return nil, closeAll(err, store.Close)
	}
	return &lockedJournal{store, unlock}, nil
}

// availabilityPause is the time between two looks at the database.
const availabilityPause = 500 * time.Millisecond

// followDatabase calls changed when the database of a journal is gone and when it is back, until
// ctx ends or the caller calls stop, which waits for the last call. It does nothing for a file.
func followDatabase(ctx context.Context, store journal, changed func(available bool)) (stop func()) {
	remote, ok := store.(*postgres.Store)
	if !ok {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // ends with ctx; stop waits for it
		defer close(ended)
		available := true
		for cli.Wait(ctx, availabilityPause) {
			if now := remote.Gone().IsZero(); now != available {
				available = now
				changed(available)
			}
		}
	}()
	return func() { cancel(); <-ended }
}
