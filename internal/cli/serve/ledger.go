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
	// ledgerFile is the ledger of calls, in the folder of records.
	ledgerFile = "calls.db"
	// ledgerMark is the file beside it that says which ledger the folder belongs to. It is written after the ledger's first
	// start, so that a folder that has one has had a ledger.
	ledgerMark = "ledger.id"
	// newestFile is the file beside it that holds the number of the ledger's newest call. A ledger with fewer calls is an older
	// one, or has lost its log (calls.db-wal).
	newestFile = "ledger.newest"
	// unmarked stands for the id of a ledger that no mark tells.
	unmarked = "unknown"
)

// ledgerKeeper refuses to begin with another ledger than the one that the rest of the state belongs to: what was executed
// under the ids of the lost one would be executed again.
type ledgerGuard struct {
	dir      string // of the records
	audit    string // the audit log
	accepted string // the id of the ledger whose loss the operator accepts; empty: none
}

func ledgerGuardOf(o *Options) ledgerGuard {
	return ledgerGuard{dir: o.recordsDir(), audit: o.Audit.File, accepted: o.acceptedLoss}
}

// check returns why toolhost must not start, before anything is opened: the ledger is missing or empty, and other state shows
// that there was one.
func (k ledgerGuard) check() error {
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
	return k.refusal(fmt.Sprintf("the ledger of calls %s %s, and %s shows that there was one", path, what, trace), cmp.Or(id, unmarked))
}

// trace returns what shows that there was a ledger, or "". All of it is made after a ledger.
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

// settle compares the open ledger and the number of its newest call with the ones that the folder belongs to, and marks the folder
// as its own.
func (k ledgerGuard) settle(id string, newest int64, noted *newestCall) error {
	marked, err := k.mark()
	switch {
	case err != nil:
		return err
	case marked == "" && k.accepted == unmarked: // check accepted it
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

// newestCall holds the number of the ledger's newest call in a file.
//
// The number is written after the ledger holds the call, and without waiting for the disk: after a kill the file is as new as the
// ledger, and after a power failure it may be older, which refuses nothing. So the file never claims a call that the ledger
// did not hold.
type newestCall struct {
	file   *os.File
	number int64 // as it was found
	err    error // of the last set
}

// newestDigits is the length of the number in the file. It never changes, so that each write replaces the one before.
const newestDigits = 20

// openNewest opens the file, and makes it if it is not there. A file that an earlier build did not write counts as 0.
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

// set writes the number. It is called by one goroutine at a time.
func (n *newestCall) set(number int64) {
	if _, err := n.file.WriteAt(fmt.Appendf(nil, "%0*d\n", newestDigits, number), 0); err != nil {
		n.err = fmt.Errorf("noting the number of the newest call: %w", err)
	}
}

// mark returns the id of the ledger that the folder belongs to; "" if it does not say.
func (k ledgerGuard) mark() (string, error) {
	data, err := os.ReadFile(filepath.Join(k.dir, ledgerMark))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading which ledger the folder belongs to: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// refusal says why toolhost does not start and how to go on, unless the operator has accepted the loss of this ledger.
func (k ledgerGuard) refusal(what, id string) error {
	if k.accepted == id {
		return nil
	}
	return fmt.Errorf("%s; a call that was executed before could be executed again, so toolhost does not start; "+
		"restore the file from a backup, or, if no caller will repeat a call that it sent before, start once with --accept-lost-ledger %s", what, id)
}
