// Package maintain has the commands of toolhost that work on its state without a running server:
// `backup`, `restore`, `migrate` and `nodes`.
//
// Package backup owns the archives. This package knows which files of the state folder are in them,
// in which order they are copied, and what makes a restored ledger safe.
package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/store/backup"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
)

// The names of further files in an archive, which are those in the state folder.
const (
	catalogFile = "catalog.json"
	trustFile   = "trust.json"
)

// artifactPrefix begins the names of artifacts. Other files in their folder are locks and
// incomplete artifacts.
const artifactPrefix = "artifact-"

// stateFlags are the flags that say where the state is.
type stateFlags struct{ flags serve.Flags }

func (s *stateFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.flags.Config, "config", "", "configuration `FILE` of the toolhost (default: as for `toolhost serve`)")
	cmd.Flags().StringVar(&s.flags.StateDir, "state", "", "state folder `DIR` of the toolhost (default: as for `toolhost serve`)")
}

// written is the result of a backup, as -o json prints it.
type written struct {
	File   string    `json:"file"`
	Digest string    `json:"digest"`
	Time   time.Time `json:"time"` // of the backup
	State  string    `json:"state"`
	Files  int       `json:"files"`
	Bytes  int64     `json:"size_bytes"`
	Ledger string    `json:"ledger"` // the id of the ledger in the backup
}

// NewBackupCommand returns the command `backup`.
func NewBackupCommand(p cli.Process) *cobra.Command {
	var where stateFlags
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "backup FILE|DIR",
		Short: "Write the ledger, the artifacts, the history, the audit log and the trust records to an archive",
		Long: "Backup copies the state of a toolhost to one archive (.tar.gz, mode 0600), while the toolhost runs or after it has\n" +
			"stopped. Every call that was answered before the backup began is in it. FILE must not exist; in a folder DIR, the\n" +
			"archive gets a name with the time. It holds the ledger with results of calls, artifacts, the history with the last\n" +
			"lines of crashed plugins, the audit log, the catalog and the trust records: protect it like the state folder. It does\n" +
			"not hold toolhost.yaml, the values of secrets, plugins, standing approvals, or agentd's journal (see `agentd backup`).\n" +
			"Keep the digest that is printed elsewhere: `toolhost restore --digest` refuses any other archive.\n" +
			"With -o json it prints an object: file, digest, time, state, files, size_bytes and ledger.",
		Example: "  toolhost backup /backups",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			files, err := where.flags.StateFiles(p.Getenv)
			if err != nil {
				return err
			}
			done, err := writeBackup(cmd.Context(), files, args[0], time.Now())
			if err != nil {
				return err
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, done)
			}
			_, err = fmt.Fprintf(p.Out(), "wrote %s: %s, %s, the ledger %s\n%s\n",
				done.File, cli.Count(done.Files, "file"), cli.Size(uint64(done.Bytes)), done.Ledger, done.Digest)
			return err
		},
	}
	where.add(cmd)
	format.AddFlag(cmd.Flags())
	return cmd
}

// writeBackup writes an archive of a state folder, which a toolhost may use meanwhile.
//
// The ledger is copied first. Each artifact that a result in the ledger names was stored before the
// result, so the copies of the artifacts have it unless it was removed by age or number. In the
// same way, the audit log has the decision about each call of the ledger.
func writeBackup(ctx context.Context, files serve.StateFiles, target string, now time.Time) (_ *written, err error) {
	if backup.Pending(files.Marker()) {
		return nil, fmt.Errorf("a restore of %s was interrupted; finish it with: toolhost restore --state %s --resume", files.State, cli.ShellWord(files.State))
	}
	w, err := backup.Create(target, backup.Manifest{Program: cli.Toolhost, ProgramVersion: version.Number, Time: now})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	id, err := addState(ctx, w, files)
	if err != nil {
		return nil, fmt.Errorf("backing up %s: %w", files.State, err)
	}
	m, digest, err := w.Finish()
	if err != nil {
		return nil, err
	}
	return &written{File: w.Path(), Digest: digest, Time: m.Time, State: files.State, Files: len(m.Files), Bytes: m.Bytes(), Ledger: id}, nil
}

// addState adds all files and returns the id of the ledger.
func addState(ctx context.Context, w *backup.Writer, files serve.StateFiles) (string, error) {
	id, err := addLedger(ctx, w, files)
	if err != nil {
		return "", err
	}
	if err := w.AddFolder(ctx, serve.ArtifactsFolder, filepath.Join(files.State, serve.ArtifactsFolder), artifactPrefix); err != nil {
		return "", err
	}
	if err := sqlitefile.Copy(ctx, filepath.Join(files.State, serve.HistoryFile), w.Scratch()); err == nil {
		err = w.AddCopy(ctx, serve.HistoryFile)
		if err != nil {
			return "", err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("copying the history: %w", err)
	}
	for name, path := range map[string]string{
		catalogFile:     filepath.Join(files.State, catalogFile),
		serve.AuditFile: files.Audit,
		trustFile:       filepath.Join(files.Trust, trustFile),
	} {
		if err := w.Add(ctx, name, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return id, nil
}

// addLedger adds a copy of the ledger, and returns its id.
func addLedger(ctx context.Context, w *backup.Writer, files serve.StateFiles) (string, error) {
	marked, err := callstore.ReadMark(files.State)
	if err != nil {
		return "", err
	}
	if files.Records != "" {
		return "", errors.New("its ledger is in a database (records in toolhost.yaml); back up the database, and the files of the state folder with it")
	}
	path := filepath.Join(files.State, callstore.LedgerFile)
	if err := sqlitefile.Copy(ctx, path, w.Scratch()); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no ledger %s; name the state folder of the toolhost with --state", path)
	} else if err != nil {
		return "", fmt.Errorf("copying the ledger: %w", err)
	}
	id, err := callstore.ReadID(ctx, w.Scratch())
	if err != nil {
		return "", err
	}
	if marked != "" && marked != id {
		return "", fmt.Errorf("%s is the ledger %s, and the folder belongs to the ledger %s; see `toolhost serve`", path, id, marked)
	}
	w.AddLedger(backup.Ledger{Path: callstore.LedgerFile, ID: id})
	return id, w.AddCopy(ctx, callstore.LedgerFile)
}
