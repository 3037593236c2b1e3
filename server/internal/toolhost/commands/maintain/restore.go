package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	"github.com/toolhost/toolhost/server/internal/store/backup"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/trust"
)

const (
	// stagingFolder has the files of an archive until they are verified. It is in the state folder,
	// so that renames suffice to place them.
	stagingFolder = ".restoring"
	// asidePrefix begins the name of the folder with the files from before a restore.
	asidePrefix = "before-restore-"
)

// restored is the result of a restore, as -o json prints it.
type restored struct {
	File     string    `json:"file"`
	Digest   string    `json:"digest"`
	Time     time.Time `json:"time"` // of the backup
	State    string    `json:"state"`
	Files    int       `json:"files"`
	Bytes    int64     `json:"size_bytes"`
	Ledger   string    `json:"ledger"`        // the id of the ledger, which is a new one after a restore
	From     string    `json:"former_ledger"` // the id of the ledger in the backup
	Calls    int       `json:"calls"`
	Aside    string    `json:"aside,omitempty"` // the folder with the files from before
	Warnings []string  `json:"warnings"`
}

type restoreFlags struct {
	where                  stateFlags
	replace, check, resume bool
	digest                 string
	format                 cli.Format
}

// NewRestoreCommand returns the command `restore`.
func NewRestoreCommand(p cli.Process) *cobra.Command {
	var f restoreFlags
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Restore the state of a toolhost from an archive of `toolhost backup`",
		Long: "Restore verifies the whole archive before it changes anything, and then puts its files into the state folder. It\n" +
			"refuses while a toolhost uses the folder, and if the folder has such files already; --replace moves these to the\n" +
			"folder before-restore-TIME in it. It refuses an archive that a tool may have written, unless you name its digest. Run it as the user that runs the toolhost.\n" +
			"The restored ledger gets a new id. Calls with side effects that began after the backup are not in it: repeated with\n" +
			"the id of the former ledger they end with outcome_unknown, and so do calls with an unknown id and neither a ledger\n" +
			"id nor a time, for as long as the ledger keeps ids. See docs/runbook.md.\n" +
			"With -o json it prints an object: file, digest, time, state, files, size_bytes, ledger, former_ledger, calls, aside\n" +
			"and warnings.",
		Example: "  toolhost restore /backups/toolhost-20260102T030405Z.tar.gz",
		Args:    cli.Arguments(0, 1),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.restore(cmd.Context(), p, args) },
	}
	f.where.add(cmd)
	cmd.Flags().BoolVar(&f.replace, "replace", false, "replace the files of a state folder that is not empty; they are kept aside")
	cmd.Flags().BoolVar(&f.check, "check", false, "verify the archive and change nothing")
	cmd.Flags().BoolVar(&f.resume, "resume", false, "finish a restore that was interrupted; needs no FILE")
	cli.DigestFlag(cmd.Flags(), &f.digest, "refuse an archive with another `DIGEST` than sha256:HEX, as `toolhost backup` printed it")
	f.format.AddFlag(cmd.Flags())
	return cmd
}

func (f *restoreFlags) restore(ctx context.Context, p cli.Process, args []string) error {
	if f.resume == (len(args) > 0) || f.resume && (f.check || f.replace || f.digest != "") {
		return cli.Usage("name the archive, or finish an interrupted restore with --resume alone")
	}
	files, err := f.where.flags.StateFiles(p.Getenv)
	if err != nil {
		return err
	}
	r := restoring{files: files, replace: f.replace, check: f.check, digest: f.digest, now: time.Now()}
	if f.resume {
		return r.resume(p)
	}
	r.archive, err = filepath.Abs(args[0])
	if err != nil {
		return err
	}
	if _, err := os.Stat(r.archive); err != nil {
		return cli.Usage("%w", err)
	}
	if err := configfile.CheckArchive(p.Getenv, r.archive, r.digest); err != nil {
		return err
	}
	done, err := r.restore(ctx)
	if err != nil {
		return err
	}
	if f.format.JSON() {
		return cli.WriteJSON(p.Stdout, done)
	}
	return r.print(p, done)
}

// restoring is one restore.
type restoring struct {
	files          serve.StateFiles
	archive        string
	replace, check bool
	digest         string // empty: any
	now            time.Time
}

func (r *restoring) print(p cli.Process, done *restored) error {
	out := p.Out()
	if r.check {
		_, err := fmt.Fprintf(out, "%s can be restored: %s, %s, the ledger %s of %s\n", done.File, cli.Count(done.Files, "file"),
			cli.Size(uint64(done.Bytes)), done.Ledger, done.Time.Format(time.RFC3339))
		return err
	}
	fmt.Fprintf(out, "restored %s from %s of %s: %s\n", done.State, done.File, done.Time.Format(time.RFC3339), cli.Count(done.Calls, "call"))
	fmt.Fprintf(out, "the ledger is now %s; it was %s, and has no call from after the backup\n", done.Ledger, done.From)
	if done.Aside != "" {
		fmt.Fprintf(out, "the files from before are in %s\n", done.Aside)
	}
	for _, warning := range done.Warnings {
		fmt.Fprintf(p.Err(), "%s: warning: %s\n", cli.Toolhost, warning)
	}
	return nil
}

// resume finishes an interrupted restore.
func (r *restoring) resume(p cli.Process) error {
	if !backup.Pending(r.files.Marker()) {
		return fmt.Errorf("no restore of %s was interrupted", r.files.State)
	}
	lock, err := r.lock()
	if err != nil {
		return err
	}
	defer lock.Release()
	done, err := backup.Resume(r.files.Marker())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Out(), "finished the restore of %s from %s\n", r.files.State, done.Archive)
	return err
}

// restore verifies the archive and puts its files into place.
func (r *restoring) restore(ctx context.Context) (_ *restored, err error) {
	if !r.check {
		lock, err := r.lock()
		if err != nil {
			return nil, err
		}
		defer lock.Release()
		if err := r.checkTarget(); err != nil {
			return nil, err
		}
	}
	staging := filepath.Join(r.files.State, stagingFolder)
	if r.check {
		if staging, err = backup.CheckFolder(r.files.State); err != nil {
			return nil, err
		}
	} else if err := errors.Join(os.RemoveAll(staging), os.Mkdir(staging, 0o700)); err != nil { // of a killed process
		return nil, err
	}
	defer func() {
		if !backup.Pending(r.files.Marker()) { // otherwise --resume needs the files
			err = errors.Join(err, os.RemoveAll(staging))
		}
	}()
	done, m, err := r.verify(ctx, staging)
	if err != nil || r.check {
		return done, err
	}
	if err := r.place(staging, done, m); err != nil {
		return nil, err
	}
	lacking, err := catalog.Lacking(r.files.State)
	done.Warnings = append(done.Warnings, lacking...)
	return done, err
}

// lock locks the state folder, and creates it if there is none. It refuses the folder of another
// user: toolhost could not use the restored files.
func (r *restoring) lock() (*catalog.StateLock, error) {
	if err := checkOwner(r.files.State); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.files.State, 0o700); err != nil {
		return nil, err
	}
	return catalog.LockState(r.files.State)
}

// checkOwner refuses a folder that belongs to another user. If the folder does not exist, the
// nearest folder above counts, unless it belongs to root.
func checkOwner(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if err := checkOwner(filepath.Dir(dir)); err != nil && os.Geteuid() == 0 {
			return err
		}
		return nil // the system refuses other users
	}
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to the user %d, and this is the user %d; run the command as the user that runs the toolhost", dir, owner.Uid, os.Geteuid())
	}
	return nil
}

// checkTarget refuses a folder with an interrupted restore, or with files that would be replaced.
func (r *restoring) checkTarget() error {
	if backup.Pending(r.files.Marker()) {
		return fmt.Errorf("a restore of %s was interrupted; finish it first with: toolhost restore --state %s --resume", r.files.State, cli.ShellWord(r.files.State))
	}
	if r.replace {
		return nil
	}
	for _, path := range r.targets() {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s exists; --replace moves it and the other files of the state aside, and restores the backup", path)
		}
	}
	return nil
}

// targets returns the paths of all files that a restore can replace.
func (r *restoring) targets() []string {
	names := append(callstore.FileNames(), serve.ArtifactsFolder, catalogFile, serve.AuditFile,
		serve.HistoryFile, serve.HistoryFile+"-wal", serve.HistoryFile+"-shm")
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(r.files.State, name))
	}
	return append(paths, filepath.Join(r.files.Trust, trustFile))
}

// verify extracts the archive, checks every file, and gives the ledger its new id.
func (r *restoring) verify(ctx context.Context, staging string) (*restored, *backup.Manifest, error) {
	m, digest, err := backup.Extract(ctx, r.archive, staging)
	if err != nil {
		return nil, nil, err
	}
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("the backup %s cannot be used: %w", r.archive, fmt.Errorf(format, args...))
	}
	if r.digest != "" && r.digest != digest {
		return nil, nil, refuse("its digest is %s", digest)
	}
	if m.Program != cli.Toolhost {
		return nil, nil, refuse("it is a backup of %.40q; restore it with that program", m.Program)
	}
	for i := range m.Files {
		if !known(m.Files[i].Path) {
			return nil, nil, refuse("it has the file %s, which this toolhost does not know; use the toolhost that wrote it (%.40s) or a newer one", m.Files[i].Path, m.ProgramVersion)
		}
	}
	if len(m.Ledgers) != 1 || !m.Has(callstore.LedgerFile) {
		return nil, nil, refuse("it has no ledger")
	}
	if m.Has(serve.HistoryFile) {
		if err := history.Check(ctx, filepath.Join(staging, serve.HistoryFile)); err != nil {
			return nil, nil, refuse("%w", err)
		}
	}
	renewed, err := callstore.Renew(ctx, filepath.Join(staging, callstore.LedgerFile), m.Time, r.now)
	if err != nil {
		return nil, nil, refuse("%w", err)
	}
	if renewed.From != m.Ledgers[0].ID {
		return nil, nil, refuse("its ledger is %s, and its manifest says %.40q", renewed.From, m.Ledgers[0].ID)
	}
	if err := callstore.WriteMarks(staging, renewed); err != nil {
		return nil, nil, err
	}
	done := &restored{File: r.archive, Digest: digest, Time: m.Time, State: r.files.State, Files: len(m.Files), Bytes: m.Bytes(),
		Ledger: renewed.ID, From: renewed.From, Calls: renewed.Calls, Warnings: []string{}}
	if r.check {
		done.Ledger = renewed.From
	}
	if m.User != os.Getuid() {
		done.Warnings = append(done.Warnings, fmt.Sprintf("the backup was made by the user %d, and this is the user %d: calls belong to the user that made them, "+
			"so calls of callers that now run as another user are not found by their ids", m.User, os.Getuid()))
	}
	return done, m, nil
}

// known reports whether a file of an archive is one that writeBackup adds.
func known(name string) bool {
	artifact, ok := strings.CutPrefix(name, serve.ArtifactsFolder+"/"+artifactPrefix)
	return ok && !strings.Contains(artifact, "/") ||
		slices.Contains([]string{callstore.LedgerFile, serve.HistoryFile, serve.AuditFile, catalogFile, trustFile}, name)
}

// place moves the old files aside and the new ones into place. The audit log of a toolhost that
// keeps it elsewhere stays where it is, because it may be newer than that of the backup.
func (r *restoring) place(staging string, done *restored, m *backup.Manifest) error {
	p := backup.Placement{Archive: r.archive, Staging: staging}
	folder := r.asideFolder()
	for _, path := range r.targets() {
		if _, err := os.Lstat(path); err == nil && filepath.Base(path) != trustFile {
			p.Aside = append(p.Aside, backup.Move{From: path, To: filepath.Join(filepath.Dir(path), folder, filepath.Base(path))})
			done.Aside = filepath.Join(r.files.State, folder)
		}
	}
	entries, err := os.ReadDir(staging)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		from, to := filepath.Join(staging, entry.Name()), filepath.Join(r.files.State, entry.Name())
		if entry.Name() == trustFile {
			if from, to, err = r.stageTrust(from, folder); err != nil {
				return err
			}
		}
		p.Place = append(p.Place, backup.Move{From: from, To: to})
	}
	if kept := filepath.Join(r.files.State, serve.AuditFile); m.Has(serve.AuditFile) && kept != r.files.Audit {
		done.Warnings = append(done.Warnings, fmt.Sprintf("toolhost writes its audit log to %s; the one of the backup is %s", r.files.Audit, kept))
	}
	return p.Carry(r.files.Marker())
}

// asideFolder returns the name of a folder that does not exist beside any of the files.
func (r *restoring) asideFolder() string {
	first := asidePrefix + r.now.UTC().Format("20060102T150405Z")
	for name, n := first, 2; ; name, n = fmt.Sprintf("%s-%d", first, n), n+1 {
		_, state := os.Lstat(filepath.Join(r.files.State, name))
		_, trust := os.Lstat(filepath.Join(r.files.Trust, name))
		if state != nil && trust != nil {
			return name
		}
	}
}

// stageTrust prepares the move of the trust records of the backup. They may belong to a folder in
// another file system than the state folder, where a rename does not work, so it copies them there.
//
// The records in use are copied to the folder that keeps old files, and not moved: without trust
// records, an interrupted restore could not read the configuration that it needs to resume. One
// rename replaces them.
func (r *restoring) stageTrust(from, aside string) (staged, to string, err error) {
	to, staged = filepath.Join(r.files.Trust, trustFile), filepath.Join(r.files.Trust, "."+trustFile+stagingFolder)
	old, err := os.ReadFile(to)
	if err == nil {
		err = os.MkdirAll(filepath.Join(r.files.Trust, aside), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(r.files.Trust, aside, trustFile), old, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", "", err
	}
	text, err := os.ReadFile(from)
	if err == nil && old != nil {
		text, err = trust.Merge(text, old)
	}
	if err == nil {
		err = os.MkdirAll(r.files.Trust, 0o700)
	}
	if err != nil {
		return "", "", err
	}
	return staged, to, errors.Join(atomicfile.Write(staged, text, 0o600), os.Remove(from))
}
