package serve

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
)

// unmarked is the id of a ledger if callstore.MarkFile does not exist.
const unmarked = "unknown"

// ledgerGuard makes toolhost refuse to start with a ledger that does not belong to the rest of the
// state. Otherwise toolhost would execute calls again that it executed under the ids of the lost
// ledger.
type ledgerGuard struct {
	dir      string // the records folder
	audit    string // path of the audit log
	accepted string // the id of the ledger whose loss the operator accepts; empty means none
	shared   bool   // the ledger is in a database
}

func ledgerGuardOf(o *Options) ledgerGuard {
	return ledgerGuard{dir: o.recordsDir(), audit: o.Audit.File, accepted: o.acceptedLoss, shared: o.Records != ""}
}

// check runs before toolhost opens anything. It returns an error if the ledger is missing or empty
// and other state shows that there was one.
func (k ledgerGuard) check() error {
	if k.shared {
		return nil // settleShared checks
	}
	path := filepath.Join(k.dir, callstore.LedgerFile)
	info, err := os.Stat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("looking for the ledger of calls: %w", err)
	case err == nil && info.Size() > 0:
		return nil // settle checks the content
	}
	what := "is missing"
	if err == nil {
		what = "is empty"
	}
	id, err := callstore.ReadMark(k.dir)
	if err != nil {
		return err
	}
	trace := k.trace(id)
	if trace == "" {
		return nil // toolhost starts for the first time
	}
	return k.refusal(fmt.Sprintf("the ledger of calls %s %s, and %s shows that there was one", path, what, trace), cmp.Or(id, unmarked))
}

// trace returns the path of a file that shows that there was a ledger, or "". toolhost creates each
// such file after the ledger.
func (k ledgerGuard) trace(id string) string {
	if id != "" {
		return filepath.Join(k.dir, callstore.MarkFile)
	}
	artifacts := filepath.Join(k.dir, ArtifactsFolder)
	if _, err := os.Stat(artifacts); err == nil {
		return artifacts
	}
	if filepath.Dir(k.audit) == k.dir && hasRecordOfServer(k.audit) {
		return k.audit
	}
	return ""
}

// hasRecordOfServer reports whether an audit log exists and has a record of a running toolhost. A
// command that creates a token writes a record, too, and an operator may run it before the first
// start. A log that cannot be read counts as one with such a record.
func hasRecordOfServer(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	records := json.NewDecoder(bufio.NewReader(file))
	for {
		var record struct {
			Kind audit.Kind `json:"kind"`
			From string     `json:"from"`
		}
		if err := records.Decode(&record); err != nil {
			return !errors.Is(err, io.EOF)
		}
		if record.Kind != audit.OfCredential || record.From != "command" {
			return true
		}
	}
}

// settle checks that the open ledger is the one that the folder belongs to, and that it has the
// newest call. It then writes the id of the ledger to the folder, and records in the ledger that
// the file with the number exists. A ledger of an earlier build may have no such file.
func (k ledgerGuard) settle(ctx context.Context, calls *callstore.Store, noted *newestCall) error {
	if r := calls.Restored(); r != nil && k.accepted == r.From {
		if err := calls.AcceptRestoration(ctx); err != nil {
			return err
		}
	}
	id, newest := calls.ID(), calls.Newest()
	marked, err := callstore.ReadMark(k.dir)
	if err == nil {
		err = k.compare(marked, id, newest, calls.Noted(), noted)
	}
	if err == nil {
		noted.set(newest)
		if err = noted.err; err == nil && !calls.Noted() {
			// Sync both before the note: a power failure must not lose the file and keep the note
			// in the ledger.
			err = errors.Join(noted.file.Sync(), atomicfile.SyncFolder(k.dir), calls.Note(ctx))
		}
	}
	if err != nil || marked == id {
		return err
	}
	if err := atomicfile.Write(filepath.Join(k.dir, callstore.MarkFile), []byte(id+"\n"), 0o600); err != nil {
		return fmt.Errorf("noting the ledger's id: %w", err)
	}
	return nil
}

// compare returns an error if a ledger is not the one that the folder belongs to, or lacks calls.
// hasNoted says that the ledger knows that a file has the number of its newest call.
func (k ledgerGuard) compare(marked, id string, newest int64, hasNoted bool, noted *newestCall) error {
	switch {
	case marked == "" && k.accepted == unmarked: // check has accepted it
	case (marked == id || marked == "") && noted.absent && hasNoted:
		return k.refusal(fmt.Sprintf("%s, which has the number of the newest call of the ledger %s, is missing or empty, so toolhost cannot see whether the ledger has lost calls",
			filepath.Join(k.dir, callstore.NewestFile), filepath.Join(k.dir, callstore.LedgerFile)), fmt.Sprintf("%s@%d", cmp.Or(marked, unmarked), newest))
	case (marked == id || marked == "") && newest < noted.number:
		return k.refusal(fmt.Sprintf("the ledger of calls %s is older than the rest of the folder, or its log %s-wal is lost: its newest call is %d, and call %d was begun",
			filepath.Join(k.dir, callstore.LedgerFile), callstore.LedgerFile, newest, noted.number), fmt.Sprintf("%s@%d", cmp.Or(marked, unmarked), noted.number))
	case marked != "" && marked != id:
		return k.refusal(fmt.Sprintf("%s is the ledger %s, and the folder belongs to the ledger %s", filepath.Join(k.dir, callstore.LedgerFile), id, marked), marked)
	}
	return nil
}

// newestCall stores the number of the newest call of the ledger in a file.
//
// toolhost writes the number after the ledger has stored the call, and does not sync the file.
// After a kill of toolhost, the file is as new as the ledger. After a power failure, the file may
// be older than the ledger; an older number never makes toolhost refuse to start. So the number in
// the file is never larger than that of the newest call in the ledger.
type newestCall struct {
	file   *os.File
	number int64 // when the file was opened
	absent bool  // the file was missing or empty when it was opened
	err    error // the error of the last set, if it failed
}

// openNewest opens the file, or creates an empty one.
func (k ledgerGuard) openNewest() (*newestCall, error) {
	path := filepath.Join(k.dir, callstore.NewestFile)
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, fmt.Errorf("opening the number of the newest call: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the number of the newest call: %w", err)
	}
	text := make([]byte, callstore.NewestDigits)
	n, err := file.ReadAt(text, 0)
	if n == 0 && errors.Is(err, io.EOF) {
		return &newestCall{file: file, absent: true}, nil
	}
	number, err := strconv.ParseInt(string(text[:n]), 10, 64)
	if err != nil || n < callstore.NewestDigits {
		_ = file.Close()
		return nil, fmt.Errorf("%s does not hold the number of the newest call; if the ledger beside it is the right one, remove the file", path)
	}
	return &newestCall{file: file, number: number}, nil
}

// set writes the number. One goroutine at a time calls it.
func (n *newestCall) set(number int64) {
	if _, err := n.file.WriteAt(callstore.FormatNewest(number), 0); err != nil {
		n.err = fmt.Errorf("noting the number of the newest call: %w", err)
	}
}

// replace writes the number at a start. A number that falls is on the disk when it returns: after a
// power failure, the one of before beside the database of now would look like a loss.
func (n *newestCall) replace(number int64) error {
	if n.set(number); n.err != nil || number >= n.number {
		return n.err
	}
	if err := n.file.Sync(); err != nil {
		return fmt.Errorf("noting the number of the newest call: %w", err)
	}
	return nil
}

// refusal returns the error that tells the operator why toolhost does not start and how to
// continue. It returns nil if the operator has accepted the loss of this ledger.
func (k ledgerGuard) refusal(what, id string) error {
	if k.accepted == id {
		return nil
	}
	return fmt.Errorf("%s; a call that was executed before could be executed again, so toolhost does not start; "+
		"%s, or, if no caller will repeat a call that it sent before, start once with --accept-lost-ledger %s", what, k.advice(), id)
}

func (k ledgerGuard) advice() string {
	if _, err := os.Stat(filepath.Join(k.dir, callstore.LedgerFile)); k.shared && err == nil {
		return "move the calls of the file " + filepath.Join(k.dir, callstore.LedgerFile) + " into the database with `toolhost migrate`"
	}
	if k.shared {
		return "use the server of the database that has the calls"
	}
	return "restore the file from a backup"
}
