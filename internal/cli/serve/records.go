package serve

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"

	"github.com/toolhost/toolhost/internal/artifact"
	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/callstore"
	"github.com/toolhost/toolhost/internal/host/history"
)

// records are the files that toolhost keeps about calls. They are in the state folder, which the
// catalog locks, or in the folder of --records. The ledger locks its own file.
type records struct {
	calls     *callstore.Store
	newest    *newestCall
	artifacts *artifact.Store
	decisions *audit.Log
	history   *history.Log
}

// openRecords opens all records. The caller closes them after the host.
func openRecords(ctx context.Context, options Options, logger *slog.Logger) (_ *records, err error) {
	r := &records{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
		}
	}()
	keeper := ledgerGuardOf(&options)
	if r.newest, err = keeper.openNewest(); err != nil {
		return nil, err
	}
	r.calls, err = callstore.Open(ctx, callstore.Config{
		Path:        filepath.Join(options.recordsDir(), ledgerFile),
		MaxIDs:      options.Ledger.MaxIDs,
		MaxBytes:    int64(options.Ledger.MaxBytes),
		KeepIDs:     options.Ledger.KeepIDs,
		KeepResults: options.Ledger.KeepResults,
		Begun:       r.newest.set,
		Logger:      logger,
	})
	if err != nil {
		return nil, err
	}
	if err := keeper.settle(r.calls.ID(), r.calls.Newest(), r.newest); err != nil {
		return nil, err
	}
	r.artifacts, err = artifact.Open(artifact.Config{
		Dir:      filepath.Join(options.recordsDir(), "artifacts"),
		MaxBytes: int64(options.Artifacts.MaxBytes),
		MaxCount: options.Artifacts.MaxCount,
		MaxAge:   options.Artifacts.MaxAge,
		Logger:   logger,
	})
	if err != nil {
		return nil, err
	}
	if r.history, err = history.Open(filepath.Join(options.State, "history.jsonl"), logger); err != nil {
		return nil, err
	}
	r.decisions, err = audit.Open(audit.Config{File: options.Audit.File, All: options.Audit.Log == "all"})
	return r, err
}

func (r *records) close() error {
	var errs []error
	r.history.Close()
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
