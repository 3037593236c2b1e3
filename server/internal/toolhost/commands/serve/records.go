package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/toolhost/toolhost/server/internal/audit"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/grants"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
)

// historyFile is the name of the history in the state folder.
const historyFile = "history.db"

// records are the files that toolhost keeps about calls. They are in the state folder, which the
// catalog locks, or in the folder of --records. The ledger locks its own file.
type records struct {
	calls     ledgerOfCalls
	newest    *newestCall
	artifacts *artifact.Store
	decisions *audit.Log
	history   *history.Log
	approvals *standing.Store
	grants    *grants.Store // tokens and approvals in the database of the ledger; nil: they are in files
}

// openRecords opens all records. The caller closes them after the host, and after the last process
// of a plugin has ended.
func openRecords(ctx context.Context, options Options, runtime *runtimeDir, exported exports, logger *slog.Logger) (_ *records, err error) {
	r := &records{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	// Again, because only now does this process hold the lock that a restore holds.
	if err := checkRestore(options.State); err != nil {
		return nil, err
	}
	if options.Records != "" {
		if err := checkNoGrantsInFiles(ctx, &options); err != nil {
			return nil, err
		}
	}
	keeper := ledgerGuardOf(&options)
	if r.newest, err = keeper.openNewest(); err != nil {
		return nil, err
	}
	if r.calls, err = openLedger(ctx, &options, keeper, r.newest, runtime, exported, logger); err != nil {
		return nil, err
	}
	place, err := artifactPlace(&options)
	if err != nil {
		return nil, err
	}
	r.artifacts, err = artifact.Open(artifact.Config{
		Dir:      filepath.Join(options.recordsDir(), ArtifactsFolder),
		MaxBytes: int64(options.Artifacts.MaxBytes),
		MaxCount: options.Artifacts.MaxCount,
		MaxAge:   options.Artifacts.MaxAge,
		Place:    place,
		Logger:   logger,
	})
	if err != nil {
		return nil, err
	}
	share, err := sharing(&options)
	if err != nil {
		return nil, err
	}
	if r.history, err = history.Open(ctx, history.Config{
		Share: share,
		Path:  filepath.Join(options.State, historyFile), Keep: options.History.Keep, Events: options.Events.Kept,
		Exits: options.Logs.ExitsKept, Logger: logger,
	}); err != nil {
		return nil, err
	}
	approvals := standing.Config{Path: filepath.Join(options.recordsDir(), standing.File), Ledger: r.calls.ID(), Logger: logger}
	if options.Records != "" {
		if r.grants, err = openGrants(ctx, options.Records, logger); err != nil {
			return nil, err
		}
		approvals.Shared = r.grants.Approvals()
	}
	if r.approvals, err = standing.Open(ctx, approvals); err != nil {
		return nil, err
	}
	r.decisions, err = audit.Open(audit.Config{
		File: options.Audit.File, All: options.Audit.Log == "all", MaxBytes: int64(options.Audit.MaxBytes), KeepFiles: options.Audit.KeepFiles,
	})
	if shared, ok := r.calls.(*postgres.Store); ok && err == nil {
		shared.NoteAudit(r.auditEnd)
	}
	return r, err
}

// auditEnd returns the newest line of the audit log for the other toolhosts; empty: none.
func (r *records) auditEnd() string {
	head := r.decisions.Head()
	if head.Seq == 0 {
		return ""
	}
	return head.String()
}

// sharing returns where the toolhosts of a database share their history; nil: there is no database.
func sharing(options *Options) (*history.Sharing, error) {
	if options.Records == "" {
		return nil, nil
	}
	folder, err := nodeID(options.State)
	if err != nil {
		return nil, err
	}
	name, _ := os.Hostname() // only for people
	return &history.Sharing{Database: database.Config{URL: options.Records}, Folder: folder, Name: name}, nil
}

// ledgerOfCalls is the store of the ledger, in a file or in a database.
type ledgerOfCalls interface {
	callstore.Calls
	io.Closer
}

// openLedger opens the ledger, and checks that it is that of the state folder.
func openLedger(ctx context.Context, options *Options, keeper ledgerGuard, newest *newestCall, runtime *runtimeDir, exported exports, logger *slog.Logger) (ledgerOfCalls, error) {
	bounds := callstore.Bounds{
		MaxIDs:      options.Ledger.MaxIDs,
		MaxBytes:    int64(options.Ledger.MaxBytes),
		KeepIDs:     options.Ledger.KeepIDs,
		KeepResults: options.Ledger.KeepResults,
	}
	if options.Records != "" {
		return openShared(ctx, options, bounds, keeper, newest, runtime, exported, logger)
	}
	calls, err := callstore.Open(ctx, callstore.Config{
		Path: filepath.Join(options.recordsDir(), callstore.LedgerFile), Bounds: bounds, Begun: newest.set, Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	if err := keeper.settle(ctx, calls, newest); err != nil {
		return nil, errors.Join(err, calls.Close())
	}
	warnOfRestoration(calls, logger)
	return calls, nil
}

func (r *records) close() error {
	var errs []error
	errs = append(errs, r.history.Close())
	if r.approvals != nil {
		errs = append(errs, r.approvals.Close())
	}
	if r.grants != nil {
		errs = append(errs, r.grants.Close())
	}
	if r.decisions != nil {
		errs = append(errs, r.decisions.Close())
	}
	if r.artifacts != nil {
		errs = append(errs, r.artifacts.Close())
	}
	if r.calls != nil {
		errs = append(errs, r.calls.Close())
	}
	if r.newest != nil {
		errs = append(errs, r.newest.file.Close())
	}
	return errors.Join(errs...)
}

// warnOfRestoration logs how a restored ledger treats calls, while it treats them otherwise than
// another ledger would.
func warnOfRestoration(calls *callstore.Store, logger *slog.Logger) {
	r := calls.Restored()
	if r == nil || !calls.Now().Before(r.Ends) {
		return
	}
	logger.Warn("the ledger was restored from a backup; calls with side effects that have an id, but neither the id of this ledger nor the time when they were first sent, end with outcome_unknown; "+
		"if no caller will repeat a call that it sent before the restore, start once with --accept-lost-ledger",
		"lost_ledger", r.From, "backup", r.Backup.Format(time.RFC3339), "ledger", calls.ID(), "until", r.Ends.Format(time.RFC3339))
}
