package serve

import (
	"fmt"
	"path/filepath"

	"github.com/toolhost/toolhost/server/internal/store/backup"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
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
}

// StateFiles reads the configuration file and returns the places of the state. It does not need a
// folder of plugins. Errors: as `serve` returns for the file.
func (f Flags) StateFiles(getenv func(string) string) (StateFiles, error) {
	c, err := f.read(getenv)
	if err != nil {
		return StateFiles{}, err
	}
	return StateFiles{State: c.State, Audit: c.Audit.File, Trust: trust.Dir(getenv), Records: c.Records}, nil
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

// checkRestore returns an error if a restore of the state folder was interrupted. The folder may
// have the files of two states then.
func checkRestore(state string) error {
	files := StateFiles{State: state}
	if !backup.Pending(files.Marker()) {
		return nil
	}
	return fmt.Errorf("a restore of the state folder %s was interrupted, so toolhost does not start; finish it with: toolhost restore --state %s --resume", state, cli.ShellWord(state))
}
