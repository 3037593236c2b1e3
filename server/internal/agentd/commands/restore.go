package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/server/internal/store/backup"
	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// The files of a restore are beside the journal: JOURNAL.restore is the marker of backup.Placement,
// JOURNAL.restoring has the files of the archive until they are verified, and
// JOURNAL.before-restore-TIME keeps the old ones.
const (
	markerSuffix  = ".restore"
	stagingSuffix = ".restoring"
	asideSuffix   = ".before-restore-"
)

// restoredJournal is the result of `agentd restore`, as -o json prints it.
type restoredJournal struct {
	File    string    `json:"file"`
	Digest  string    `json:"digest"`
	Time    time.Time `json:"time"`
	Journal string    `json:"journal"`
	Files   int       `json:"files"`
	// Unfinished is the number of runs that had not finished at the time of the backup.
	Unfinished int    `json:"unfinished_runs"`
	Aside      string `json:"aside,omitempty"`
}

type restoreFlags struct {
	setup                  setup
	replace, check, resume bool
	digest                 string
	format                 cli.Format
}

func newRestoreCommand(p cli.Process) *cobra.Command {
	f := &restoreFlags{setup: setup{process: p}}
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore the journal of runs from an archive of `agentd backup`",
		Long: "Restore verifies the whole archive before it changes anything, and then puts the journal into place. It refuses while\n" +
			"an agentd uses the journal, and if there is a journal already; --replace moves that one aside.\n" +
			"Runs that had not finished continue with `agentd resume` or `agentd serve`. They ask the model again from the place of\n" +
			"the backup on. Calls with side effects that they had made after the backup are not executed again: toolhost answers\n" +
			"from its ledger, or the outcome is unknown (approvals: {unknown_outcome: ask} asks a person). The ledgers of runs with a\n" +
			"private toolhost that are still there stay as they are. See docs/runbook.md.\n" +
			"With -o json it prints an object: file, digest, time, journal, files, unfinished_runs and aside.",
		Example: "  agentd restore /backups/agentd-20260102T030405Z.tar.gz",
		Args:    cli.Arguments(0, 1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.restore(cmd.Context(), args) },
	}
	f.setup.addJournalFlags(cmd.Flags())
	cmd.Flags().BoolVar(&f.replace, "replace", false, "replace the journal that is there; it is kept aside")
	cmd.Flags().BoolVar(&f.check, "check", false, "verify the archive and change nothing")
	cmd.Flags().BoolVar(&f.resume, "resume", false, "finish a restore that was interrupted; needs no FILE")
	cli.DigestFlag(cmd.Flags(), &f.digest, "refuse an archive with another `DIGEST` than sha256:HEX, as `agentd backup` printed it")
	f.format.AddFlag(cmd.Flags())
	return cmd
}

func (f *restoreFlags) restore(ctx context.Context, args []string) error {
	if f.resume == (len(args) > 0) || f.resume && (f.check || f.replace || f.digest != "") {
		return cli.Usage("name the archive, or finish an interrupted restore with --resume alone")
	}
	journal, err := f.setup.maintained(ctx)
	if err != nil {
		return err
	}
	p := f.setup.process
	if f.resume {
		return resumeRestore(p, journal)
	}
	archive, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	if _, err := os.Stat(archive); err != nil {
		return cli.Usage("%w", err)
	}
	if err := configfile.CheckArchive(p.Getenv, archive, f.digest); err != nil {
		return err
	}
	r := restoring{journal: journal, archive: archive, digest: f.digest, replace: f.replace, check: f.check, now: time.Now()}
	done, err := r.run(ctx)
	switch {
	case err != nil:
		return err
	case f.format.JSON():
		return cli.WriteJSON(p.Stdout, done)
	case f.check:
		_, err = fmt.Fprintf(p.Out(), "%s can be restored: %s, of %s\n", done.File, cli.Count(done.Files, "file"), done.Time.Format(time.RFC3339))
		return err
	}
	fmt.Fprintf(p.Out(), "restored %s from %s of %s\n", done.Journal, done.File, done.Time.Format(time.RFC3339))
	fmt.Fprintf(p.Out(), "%s had not finished\n", cli.Count(done.Unfinished, "run"))
	if done.Aside != "" {
		fmt.Fprintf(p.Out(), "the files from before are in %s\n", done.Aside)
	}
	return nil
}

// resumeRestore finishes an interrupted restore of a journal.
func resumeRestore(p cli.Process, journal string) error {
	if !restorePending(journal) {
		return fmt.Errorf("no restore of %s was interrupted", journal)
	}
	lock, err := ownJournal(journal)
	if err != nil {
		return err
	}
	defer lock.Close()
	done, err := backup.Resume(journal + markerSuffix)
	if err != nil {
		return err
	}
	if done == nil {
		return fmt.Errorf("another process has finished the restore of %s", journal)
	}
	_, err = fmt.Fprintf(p.Out(), "finished the restore of %s from %s\n", journal, done.Archive)
	return err
}

// restorePending reports whether a restore of the journal was interrupted.
func restorePending(journal string) bool { return backup.Pending(journal + markerSuffix) }

// restoring is one restore of a journal.
type restoring struct {
	journal, archive, digest string
	replace, check           bool
	now                      time.Time

	staging string
	done    restoredJournal
}

func (r *restoring) run(ctx context.Context) (_ *restoredJournal, err error) {
	r.staging = r.journal + stagingSuffix
	if r.check {
		r.staging, err = r.checkFolder()
	} else {
		lock, lockErr := r.lock()
		if lockErr != nil {
			return nil, lockErr
		}
		defer lock.Close() // after the staging folder is gone
		if err = r.checkTarget(); err == nil {
			err = errors.Join(os.RemoveAll(r.staging), os.Mkdir(r.staging, 0o700)) // of a killed process
		}
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if r.check || !restorePending(r.journal) { // otherwise --resume needs the files
			err = errors.Join(err, os.RemoveAll(r.staging))
		}
	}()
	m, err := r.verify(ctx)
	if err != nil || r.check {
		return &r.done, err
	}
	if err := r.checkUnused(ctx); err != nil {
		return nil, err
	}
	if err := r.markRuns(ctx, m.Time); err != nil {
		return nil, err
	}
	return &r.done, r.place()
}

// lock takes the exclusive lock of the journal, which is held for the whole restore.
func (r *restoring) lock() (*os.File, error) {
	if err := trust.Secure(filepath.Dir(r.journal)); err != nil {
		return nil, err
	}
	return ownJournal(r.journal)
}

// checkFolder makes the folder into which --check extracts the archive.
func (r *restoring) checkFolder() (string, error) {
	if err := trust.Secure(filepath.Dir(r.journal)); err != nil {
		return "", err
	}
	return backup.CheckFolder(filepath.Dir(r.journal))
}

// checkTarget refuses to replace a journal without --replace.
func (r *restoring) checkTarget() error {
	if err := checkRestored(r.journal); err != nil {
		return err
	}
	if _, err := os.Lstat(r.journal); err == nil && !r.replace {
		return fmt.Errorf("%s exists; --replace moves it aside, and restores the backup", r.journal)
	}
	return nil
}

// checkUnused refuses to replace a journal that a process uses without the lock of agentd, such as
// a database shell. It also moves SQLite's log into the journal, which is kept aside.
func (r *restoring) checkUnused(ctx context.Context) error {
	if _, err := os.Lstat(r.journal); err != nil {
		return nil
	}
	err := sqlitefile.Release(ctx, r.journal)
	if errors.Is(err, sqlitefile.ErrInUse) {
		return fmt.Errorf("the journal %s is in use; stop the process that has it open", r.journal)
	}
	return nil // a damaged journal can be replaced too
}

// verify extracts the archive and checks every file.
func (r *restoring) verify(ctx context.Context) (*backup.Manifest, error) {
	m, digest, err := backup.Extract(ctx, r.archive, r.staging)
	if err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("the backup %s cannot be used: %w", r.archive, fmt.Errorf(format, args...))
	}
	if r.digest != "" && r.digest != digest {
		return nil, refuse("its digest is %s", digest)
	}
	if m.Program != program {
		return nil, refuse("it is a backup of %.40q; restore it with that program", m.Program)
	}
	for i := range m.Files {
		name := m.Files[i].Path
		if name != archivedJournal {
			return nil, refuse("it has the file %s, which this agentd does not know; use the agentd that wrote it (%.40s) or a newer one", name, m.ProgramVersion)
		}
	}
	if !m.Has(archivedJournal) {
		return nil, refuse("it has no journal")
	}
	if err := sqlite.Check(ctx, filepath.Join(r.staging, archivedJournal)); err != nil {
		return nil, refuse("its file %s: %w", archivedJournal, err)
	}
	r.done = restoredJournal{File: r.archive, Digest: digest, Time: m.Time, Journal: r.journal, Files: len(m.Files)}
	return m, nil
}

// markRuns records in the unfinished runs of the staged journal that it was restored.
func (r *restoring) markRuns(ctx context.Context, made time.Time) error {
	staged := filepath.Join(r.staging, archivedJournal)
	store, err := sqlite.Open(ctx, staged)
	if err != nil {
		return err
	}
	r.done.Unfinished, err = agent.MarkRestored(ctx, store, made)
	if err := errors.Join(err, store.Close()); err != nil {
		return err
	}
	return sqlitefile.Release(ctx, staged)
}

// place moves the old journal aside and the new one into place.
func (r *restoring) place() error {
	p := backup.Placement{Archive: r.archive, Staging: r.staging}
	aside := r.journal + asideSuffix + r.now.UTC().Format("20060102T150405.000000000Z")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if _, err := os.Lstat(r.journal + suffix); err == nil {
			p.Aside = append(p.Aside, backup.Move{From: r.journal + suffix, To: filepath.Join(aside, filepath.Base(r.journal)+suffix)})
			r.done.Aside = aside
		}
	}
	p.Place = append(p.Place, backup.Move{From: filepath.Join(r.staging, archivedJournal), To: r.journal})
	return p.Carry(r.journal + markerSuffix)
}
