package callstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
)

// The names of a ledger and of the files beside it in the folder of a toolhost. toolhost compares
// them at its start, because a ledger that lost calls would let them be executed again.
const (
	// LedgerFile is the ledger.
	LedgerFile = "calls.db"
	// MarkFile has the id of the ledger that the folder belongs to. toolhost writes it when the
	// ledger has started for the first time, so a folder with this file has had a ledger.
	MarkFile = "ledger.id"
	// NewestFile has the number of the newest call. A ledger with fewer calls is an older copy, or
	// its log (calls.db-wal) is lost.
	NewestFile = "ledger.newest"
	// NotesFile has what toolhost has noted of ledgers in databases, beside both. A folder whose
	// ledger is a file has none.
	NotesFile = "ledger.notes"
)

// NewestDigits is the length of the number in NewestFile. It is constant, so each write replaces
// the whole number.
const NewestDigits = 20

// FormatNewest returns the content of NewestFile.
func FormatNewest(number int64) []byte { return fmt.Appendf(nil, "%0*d\n", NewestDigits, number) }

// FileNames returns the names of all files of a ledger in its folder.
func FileNames() []string {
	return []string{LedgerFile, LedgerFile + "-wal", LedgerFile + "-shm", MarkFile, NewestFile, NotesFile}
}

// ReadMark returns the id of the ledger that a folder belongs to, or "" if it has none.
func ReadMark(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, MarkFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading which ledger the folder belongs to: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// WriteMarks writes both files of a ledger that Renew returned. They are on the disk when it
// returns.
func WriteMarks(dir string, r Renewed) error {
	return errors.Join(
		atomicfile.Write(filepath.Join(dir, MarkFile), []byte(r.ID+"\n"), 0o600),
		atomicfile.Write(filepath.Join(dir, NewestFile), FormatNewest(r.Newest), 0o600),
	)
}
