package serve

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/store/backup"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// The names of files in the state folder that `toolhost backup` copies.
const (
	HistoryFile     = historyFile
	ArtifactsFolder = "artifacts"
	AuditFile       = "audit.jsonl"
)

// restoreMarker is a file in the state folder while `toolhost restore` moves files; see
// backup.Placement.
const restoreMarker = "restore.json"

// StateFiles are the places of what outlives a toolhost, as its configuration and flags say. All
// paths are absolute.
type StateFiles struct {
	State string // the state folder
	Audit string // the audit log
	Trust string // the folder of the user's trust records
	// Records is the URL of the database with the ledger; empty: the ledger is a file of State.
	Records string
	KeepIDs time.Duration // how long the ledger keeps ids
}

// StateFiles reads the configuration file and returns the places of the state. It does not need a
// folder of plugins. Errors: as `serve` returns for the file.
func (f Flags) StateFiles(getenv func(string) string) (StateFiles, error) {
	c, err := f.read(getenv)
	if err != nil {
		return StateFiles{}, err
	}
	bounds, err := callstore.Bounds{KeepIDs: c.Ledger.KeepIDs}.WithDefaults()
	if err != nil {
		return StateFiles{}, err
	}
	return StateFiles{State: c.State, Audit: c.Audit.File, Trust: trust.Dir(getenv), Records: c.Records, KeepIDs: bounds.KeepIDs}, nil
}

// read reads the configuration file as `serve` does, with the defaults of this machine and user.
func (f Flags) read(getenv func(string) string) (*config.Config, error) {
	c, file, err := configuration().Use(getenv, f.Config)
	if err != nil {
		return nil, err
	}
	if err := f.over(&c); err != nil {
		return nil, err
	}
	if err := resolve(&c, getenv); err != nil {
		return nil, err
	}
	if err := configfile.CheckTrust(getenv, file, writableFolders(&c)); err != nil {
		return nil, err
	}
	return &c, nil
}

// Marker returns the path of the marker of an interrupted restore.
func (s StateFiles) Marker() string { return filepath.Join(s.State, restoreMarker) }

// OpenDeparture opens the ledger in the file of the state folder, whose calls are to move into a
// database. It fails if `serve` would not start with the file. If check is true, a toolhost may use
// it.
func (s StateFiles) OpenDeparture(ctx context.Context, check bool) (*callstore.Departure, error) {
	open := callstore.OpenToLeave
	if check {
		open = callstore.OpenToRead
	}
	keeper := ledgerGuard{dir: s.State}
	noted, err := keeper.openNewest() // before the ledger, which may grow
	if err != nil {
		return nil, err
	}
	defer noted.file.Close()
	marked, err := callstore.ReadMark(s.State)
	if err != nil {
		return nil, err
	}
	file, err := open(ctx, filepath.Join(s.State, callstore.LedgerFile), s.KeepIDs)
	if err != nil || file.Heir != "" { // then the folder may belong to the heir already
		return file, err
	}
	if err := keeper.compare(marked, file.ID, file.Newest, file.Noted, noted); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// CheckGrants returns an error if `serve` does not start with a database, because the state folder
// has tokens or standing approvals.
func (s StateFiles) CheckGrants(ctx context.Context) error {
	return checkNoGrantsInFiles(ctx, &Options{Config: config.Config{State: s.State}})
}

// Node returns the id of the state folder, and what identifies the start of the machine, as a node
// of a shared ledger has them.
func (s StateFiles) Node() (folder, place string, err error) {
	folder, err = nodeID(s.State)
	return folder, placeOf(filepath.Join(s.State, NodeFile)), err
}

// Used reports whether a toolhost with the state folder has used the ledger with an id in a
// database.
func (s StateFiles) Used(id string) (bool, error) {
	n, err := ledgerGuard{dir: s.State}.readNotes()
	return n.Ledger == id || slices.ContainsFunc(n.Earlier, func(f postgres.Former) bool { return f.ID == id || f.Next == id }), err
}

// checkRestore returns an error if a restore of the state folder was interrupted. The folder may
// have the files of two states then.
func checkRestore(state string) error {
	files := StateFiles{State: state}
	if !backup.Pending(files.Marker()) {
		return nil
	}
	return fmt.Errorf("a restore of the state folder %s was interrupted, so toolhost does not start; finish it with: toolhost restore --state %s --resume", state, cli.ShellWord(state))
}
