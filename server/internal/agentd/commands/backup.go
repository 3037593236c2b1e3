package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/store/backup"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// archivedJournal is the name of the journal in an archive, whatever its name is elsewhere. An
// archive has no other file.
const archivedJournal = "runs.db"

// writtenBackup is the result of `agentd backup`, as -o json prints it.
type writtenBackup struct {
	File    string    `json:"file"`
	Digest  string    `json:"digest"`
	Time    time.Time `json:"time"`
	Journal string    `json:"journal"`
	Files   int       `json:"files"`
	Bytes   int64     `json:"size_bytes"`
}

func newBackupCommand(p cli.Process) *cobra.Command {
	s := &setup{process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "backup FILE|DIR",
		Short: "Write the journal of runs to an archive",
		Long: "Backup copies the journal to one archive (.tar.gz, mode 0600), also while agentd works. FILE must not exist; in a\n" +
			"folder DIR, the archive gets a name with the time. It holds whole conversations with models, and arguments and results\n" +
			"of tools: protect it like the journal. It does not hold agentd.yaml, API keys, or the state of any toolhost: not of\n" +
			"one that runs by itself (see `toolhost backup`), nor the ledgers and artifacts of runs with a private toolhost.\n" +
			"Keep the digest that is printed elsewhere: `agentd restore --digest` refuses any other archive.\n" +
			"With -o json it prints an object: file, digest, time, journal, files and size_bytes.",
		Example: "  agentd backup /backups",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			journal, err := s.maintained(cmd.Context())
			if err != nil {
				return err
			}
			done, err := writeBackup(cmd.Context(), journal, args[0], time.Now())
			if err != nil {
				return err
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, done)
			}
			_, err = fmt.Fprintf(p.Out(), "wrote %s: %s, %s\n%s\n", done.File, cli.Count(done.Files, "file"), cli.Size(uint64(done.Bytes)), done.Digest)
			return err
		},
	}
	s.addJournalFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// maintained reads the configuration and returns the absolute path of the journal.
func (s *setup) maintained(ctx context.Context) (string, error) {
	if err := s.load(ctx); err != nil {
		return "", err
	}
	path, err := s.place().journalPath()
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// writeBackup writes an archive of a journal.
func writeBackup(ctx context.Context, journal, target string, now time.Time) (_ *writtenBackup, err error) {
	if _, err := os.Stat(journal); errors.Is(err, fs.ErrNotExist) && !restorePending(journal) {
		return nil, fmt.Errorf("there is no journal %s; name it with --journal", journal)
	}
	lock, err := useJournal(journal)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	w, err := backup.Create(target, backup.Manifest{Program: program, ProgramVersion: version.Number, Time: now})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := sqlitefile.Copy(ctx, journal, w.Scratch()); err != nil {
		return nil, fmt.Errorf("copying the journal %s: %w", journal, err)
	}
	if err := w.AddCopy(ctx, archivedJournal); err != nil {
		return nil, err
	}
	m, digest, err := w.Finish()
	if err != nil {
		return nil, err
	}
	return &writtenBackup{File: w.Path(), Digest: digest, Time: m.Time, Journal: journal, Files: len(m.Files), Bytes: m.Bytes()}, nil
}
