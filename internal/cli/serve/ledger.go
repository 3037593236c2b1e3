package serve

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	// ledgerFile is the ledger of calls, in the records folder.
	ledgerFile = "calls.db"
	// ledgerMark is a file beside the ledger with the id of the ledger that the folder belongs to.
	// toolhost writes it after the first start of the ledger. So a folder with this file has had a
	// ledger.
	ledgerMark = "ledger.id"
	// newestFile is a file beside the ledger with the number of the newest call. A ledger with
	// fewer calls is an older copy, or its log (calls.db-wal) is lost.
	newestFile = "ledger.newest"
	// unmarked is the id of a ledger if ledgerMark does not exist.
	unmarked = "unknown"
)

// ledgerGuard makes toolhost refuse to start with a ledger that does not belong to the rest of the
// state. Otherwise toolhost would execute calls again that it executed under the ids of the lost
// ledger.
type ledgerGuard struct {
	dir      string // the records folder
	audit    string // path of the audit log
	accepted string // the id of the ledger whose loss the operator accepts; empty means none
}

func ledgerGuardOf(o *Options) ledgerGuard {
	return ledgerGuard{dir: o.recordsDir(), audit: o.Audit.File, accepted: o.acceptedLoss}
}

// check runs before toolhost opens anything. It returns an error if the ledger is missing or empty
// and other state shows that there was one.
func (k ledgerGuard) check() error {
	path := filepath.Join(k.dir, ledgerFile)
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
	id, err := k.mark()
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

// settle compares the open ledger, and the number of its newest call, with the ledger that the
// folder belongs to. Then it writes the id of the ledger to the folder.
func (k ledgerGuard) settle(id string, newest int64, noted *newestCall) error {
	marked, err := k.mark()
	switch {
	case err != nil:
		return err
	case marked == "" && k.accepted == unmarked: // check has accepted it
	case (marked == id || marked == "") && newest < noted.number:
		err = k.refusal(fmt.Sprintf("the ledger of calls %s is older than the rest of the folder, or its log %s-wal is lost: its newest call is %d, and call %d was begun",
			filepath.Join(k.dir, ledgerFile), ledgerFile, newest, noted.number), fmt.Sprintf("%s@%d", cmp.Or(marked, unmarked), noted.number))
	case marked != "" && marked != id:
		err = k.refusal(fmt.Sprintf("%s is the ledger %s, and the folder belongs to the ledger %s", filepath.Join(k.dir, ledgerFile), id, marked), marked)
	}
	if err == nil {
		noted.set(newest)
		err = noted.err
	}
	if err != nil || marked == id {
		return err
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

// newestCall stores the number of the newest call of the ledger in a file.
//
// toolhost writes the number after the ledger has stored the call, and does not sync the file.
// After a kill of toolhost, the file is as new as the ledger. After a power failure, the file may
// be older than the ledger, and an older number refuses nothing. So the file never contains a call
// that the ledger did not store.
type newestCall struct {
	file   *os.File
	number int64 // when the file was opened
	err    error // the error of the last set, if it failed
}

// newestDigits is the length of the number in the file. It is constant, so each write replaces the
// whole number.
const newestDigits = 20

// openNewest opens the file, or creates it. A new file counts as 0, as in the state of an earlier
// build.
func (k ledgerGuard) openNewest() (*newestCall, error) {
	path := filepath.Join(k.dir, newestFile)
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, fmt.Errorf("opening the number of the newest call: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the number of the newest call: %w", err)
	}
	text := make([]byte, newestDigits)
	n, err := file.ReadAt(text, 0)
	if n == 0 && errors.Is(err, io.EOF) {
		return &newestCall{file: file}, nil
	}
	number, err := strconv.ParseInt(string(text[:n]), 10, 64)
	if err != nil || n < newestDigits {
		_ = file.Close()
		return nil, fmt.Errorf("%s does not hold the number of the newest call; if the ledger beside it is the right one, remove the file", path)
	}
	return &newestCall{file: file, number: number}, nil
}

// set writes the number. One goroutine at a time calls it.
func (n *newestCall) set(number int64) {
	if _, err := n.file.WriteAt(fmt.Appendf(nil, "%0*d\n", newestDigits, number), 0); err != nil {
		n.err = fmt.Errorf("noting the number of the newest call: %w", err)
	}
}

// mark returns the id of the ledger that the folder belongs to, or "" if the folder has none.
func (k ledgerGuard) mark() (string, error) {
	data, err := os.ReadFile(filepath.Join(k.dir, ledgerMark))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading which ledger the folder belongs to: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// refusal returns the error that tells the operator why toolhost does not start and how to
// continue. It returns nil if the operator has accepted the loss of this ledger.
func (k ledgerGuard) refusal(what, id string) error {
	if k.accepted == id {
		return nil
	}
	return fmt.Errorf("%s; a call that was executed before could be executed again, so toolhost does not start; "+
		"restore the file from a backup, or, if no caller will repeat a call that it sent before, start once with --accept-lost-ledger %s", what, id)
}
