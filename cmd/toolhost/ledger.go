package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// ledgerFile is the ledger of calls, in the folder of records.
	ledgerFile = "calls.db"
	// ledgerMark is the file beside it that says which ledger the folder belongs to. It is written after the ledger's first
	// start, so that a folder that has one has had a ledger.
	ledgerMark = "ledger.id"
	// unmarked stands for the id of a ledger that no mark tells.
	unmarked = "unknown"
)

// ledgerKeeper refuses to begin with another ledger than the one that the rest of the state belongs to: what was executed
// under the ids of the lost one would be executed again.
type ledgerKeeper struct {
	dir      string // of the records
	audit    string // the audit log
	accepted string // the id of the ledger whose loss the operator accepts; empty: none
}

func keeperOf(o *serveOptions) ledgerKeeper {
	return ledgerKeeper{dir: o.recordsDir(), audit: o.Audit.File, accepted: o.acceptedLoss}
}

// check returns why toolhost must not start, before anything is opened: the ledger is missing or empty, and other state shows
// that there was one.
func (k ledgerKeeper) check() error {
	path := filepath.Join(k.dir, ledgerFile)
	info, err := os.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("looking for the ledger of calls: %w", err)
	case err == nil && info.Size() > 0:
		return nil // what it is, is seen once it is open
	}
	what := "is missing"
	if err == nil {
		what = "is empty"
	}
	id, err := k.mark()
	if err != nil {
		return err
	}
	trace := k.trace(id)
	if trace == "" {
		return nil // the first start
	}
	if id == "" {
		id = unmarked
	}
	return k.refusal(fmt.Sprintf("the ledger of calls %s %s, and %s shows that there was one", path, what, trace), id)
}

// trace returns what shows that there was a ledger, or "". All of it is made after a ledger.
func (k ledgerKeeper) trace(id string) string {
	if id != "" {
		return filepath.Join(k.dir, ledgerMark)
	}
	paths := []string{filepath.Join(k.dir, "artifacts")}
	if filepath.Dir(k.audit) == k.dir {
		paths = append(paths, k.audit)
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// settle compares the open ledger with the one that the folder belongs to, and marks the folder as its own.
func (k ledgerKeeper) settle(id string) error {
	marked, err := k.mark()
	switch {
	case err != nil:
		return err
	case marked == id:
		return nil
	case marked != "" && k.accepted != marked:
		return k.refusal(fmt.Sprintf("%s is the ledger %s, and the folder belongs to the ledger %s", filepath.Join(k.dir, ledgerFile), id, marked), marked)
	}
	path := filepath.Join(k.dir, ledgerMark)
	if err := os.WriteFile(path+".new", []byte(id+"\n"), 0o600); err != nil {
		return fmt.Errorf("noting the ledger's id: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("noting the ledger's id: %w", err)
	}
	return nil
}

// mark returns the id of the ledger that the folder belongs to; "" if it does not say.
func (k ledgerKeeper) mark() (string, error) {
	data, err := os.ReadFile(filepath.Join(k.dir, ledgerMark))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading which ledger the folder belongs to: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// refusal says why toolhost does not start and how to go on, unless the operator has accepted the loss of this ledger.
func (k ledgerKeeper) refusal(what, id string) error {
	if k.accepted == id {
		return nil
	}
	return fmt.Errorf("%s; a call that was executed before could be executed again, so toolhost does not start; "+
		"restore the file from a backup, or, if no caller will repeat a call that it sent before, start once with --accept-lost-ledger %s", what, id)
}
