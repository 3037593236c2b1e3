package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
)

// position stores in a file how far the database of the ledger is known to have got, so that the
// next start finds a database that was rolled back. The file may be older than the database, also
// after a power failure: an older position never makes toolhost refuse to start.
type position struct {
	path    string
	before  postgres.Position // at the start; zero: not known
	settled atomic.Bool       // the database was compared with it
}

// openPosition reads the file, if there is one.
func openPosition(dir string) (*position, error) {
	p := &position{path: filepath.Join(dir, callstore.PositionFile)}
	text, err := os.ReadFile(p.path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		p.before, err = postgres.ParsePosition(strings.TrimSpace(string(text)))
	}
	if err != nil {
		return nil, fmt.Errorf("reading how far the database of the ledger had got: %w; if the database is the right one, remove %s", err, p.path)
	}
	return p, nil
}

// precedes reports whether a database at a position may have all that the one of before had. Where
// the position is not known, nothing is compared.
func (p *position) precedes(now postgres.Position) bool {
	return now == postgres.Position{} || now.Follows(p.before)
}

// set writes the position. One goroutine at a time calls it. It ignores errors: the file is then
// older.
func (p *position) set(now postgres.Position) {
	if !p.settled.Load() {
		return
	}
	file, err := os.OpenFile(p.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	// Of one length, so that each write replaces all of it.
	_, _ = file.WriteAt(fmt.Appendf(nil, "%-63s\n", now), 0)
}
