package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// NewTrustCommand returns the command `trust`.
func NewTrustCommand(p cli.Process) *cobra.Command {
	t := &truster{Installer: *NewInstaller(p), store: trust.NewUserStore(p.Getenv)}
	var format cli.Format
	var diff, list, revoke, all bool
	cmd := &cobra.Command{
		Use:   "trust [FILE|FOLDER|PLUGIN…]",
		Short: "Trust configuration files as they are now, and plugins that are new or have changed",
		Long: "Trust lets toolhost and agentd use configuration that a tool could have written. A toolhost.yaml, agentd.yaml or\n" +
			"toolhost.lock that is found in the current folder, or that lies in a folder that plugins may write, is used only if\n" +
			"its content was trusted at its path. Whenever the file changes it has to be trusted again.\n" +
			"FOLDER stands for the files of these names in it; without arguments it is the current folder. A word with a slash,\n" +
			"`.`, and a word that ends in .yaml or .lock are paths; any other word is the name of a plugin.\n\n" +
			"PLUGIN trusts a plugin as it is in its folder now: one that came after toolhost had used the folder for the first\n" +
			"time, or one that has changed what it declares of its tools. A toolhost that runs takes that over at once.\n" +
			"Without --plugins, the plugin may be in any folder that toolhost has used and that tools cannot write.\n" +
			"--all trusts all plugins in the folders.\n\n" +
			"--diff shows what has changed since it was trusted, and trusts nothing; without arguments, it shows all files and\n" +
			"plugins that wait for your trust. --list shows what is trusted. --revoke forgets it. With -o json it prints an object: files and plugins.",
		Example: "  toolhost trust\n  toolhost trust --diff agentd.yaml\n  toolhost trust weather",
		Args:    cli.Arguments(0, mostLocked),
		RunE: func(cmd *cobra.Command, args []string) error {
			if diff && revoke || diff && list || revoke && list {
				return cli.Usage("use one of --diff, --list and --revoke")
			}
			if all && (diff || list || revoke || len(args) > 0) {
				return cli.Usage("--all stands alone: it trusts all plugins in the folders")
			}
			if t.digest != "" && (all || diff || list || revoke || len(args) != 1) {
				return cli.Usage("--digest goes with one FILE or PLUGIN to trust")
			}
			run := func() (*trustView, error) { return t.run(cmd.Context(), args, diff, list, revoke) }
			if all {
				run = func() (*trustView, error) { return t.all(cmd.Context()) }
			}
			view, err := run()
			if err != nil {
				return err
			}
			if format.JSON() {
				return errors.Join(cli.WriteJSON(p.Stdout, view), view.failed)
			}
			_, err = fmt.Fprint(p.Out(), view.text(diff))
			return errors.Join(err, view.failed)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&diff, "diff", false, "show what has changed since it was trusted, and trust nothing")
	f.BoolVar(&list, "list", false, "show what is trusted")
	f.BoolVar(&revoke, "revoke", false, "forget that it was trusted")
	f.BoolVar(&all, "all", false, "trust all plugins in the folders as they are now")
	cli.DigestFlag(f, &t.digest, "trust it only if it has this `DIGEST`, which --diff shows")
	t.AddFlags(f)
	format.AddFlag(f)
	return cmd
}

// truster changes the trust records.
type truster struct {
	Installer // finds the plugin folders
	store     *trust.Store
	digest    string // the digest of what is to be trusted; empty: any
}

// expects refuses content with another digest than the one that the operator looked at.
func (t *truster) expects(path, digest string) error {
	if t.digest == "" || t.digest == digest {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitUntrusted, Err: fmt.Errorf("%s has the digest %s now, and not %s; nothing is trusted: look at it again with --diff", path, digest, t.digest)}
}

// trustView is the result of `trust`, as -o json prints it.
type trustView struct {
	Files   []fileTrust   `json:"files"`
	Plugins []pluginTrust `json:"plugins"`
	note    string
	failed  error  // why plugins are not trusted that --all stands for
	nothing string // the text if there are no files and plugins
}

// fileTrust is a configuration file and its trust.
type fileTrust struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
	State  string `json:"state"`          // trusted, changed, new, gone or revoked
	Diff   string `json:"diff,omitempty"` // from the trusted content to the present content
}

// run applies the flags to the files and plugins that the arguments name.
func (t *truster) run(ctx context.Context, args []string, diff, list, revoke bool) (*trustView, error) {
	v := &trustView{Files: []fileTrust{}, Plugins: []pluginTrust{}}
	paths, plugins := kindsOf(args)
	if len(args) == 0 && list {
		return v, errors.Join(t.listFiles(v), t.listPlugins(v))
	}
	if len(args) == 0 && diff {
		return v, t.waiting(ctx, v)
	}
	if len(args) == 0 {
		paths = []string{"."}
	}
	for _, path := range paths {
		files, err := filesAt(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if err := t.file(v, file, diff || list, revoke); err != nil {
				return nil, err
			}
		}
	}
	if err := t.namedPlugins(ctx, v, plugins, diff || list, revoke); err != nil {
		return nil, err
	}
	return v, nil
}

// kindsOf separates the arguments into paths and names of plugins. It decides by the argument's
// text alone. The content of the current folder must not decide, because a tool can change it.
func kindsOf(args []string) (paths, plugins []string) {
	for _, arg := range args {
		if strings.ContainsRune(arg, '/') || arg == "." || arg == ".." ||
			strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml") || strings.HasSuffix(arg, ".lock") {
			paths = append(paths, arg)
		} else {
			plugins = append(plugins, arg)
		}
	}
	return paths, plugins
}

// filesAt returns the configuration files of a path: the file itself, or the files of the folder. A
// missing file can still be trusted.
func filesAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	for _, name := range trust.FileNames() {
		if _, err := os.Lstat(filepath.Join(path, name)); err == nil {
			files = append(files, filepath.Join(path, name))
		}
	}
	if len(files) == 0 {
		return nil, cli.Usage("there is no %s in %s; name a file, a folder that holds one, or a plugin",
			strings.Join(trust.FileNames(), ", "), path)
	}
	return files, nil
}

// file trusts one file, or shows it, or revokes its trust.
func (t *truster) file(v *trustView, path string, look, revoke bool) error {
	if revoke {
		was, err := t.store.RevokeFile(path)
		if err == nil && !was {
			err = cli.Usage("%s was not trusted", path)
		}
		v.Files = append(v.Files, fileTrust{Path: path, State: "revoked"})
		return err
	}
	file, err := trust.Read(path, false)
	if err != nil {
		return cli.Usage("%w", err)
	}
	before, known, err := t.store.File(path)
	if err != nil {
		return err
	}
	shown := fileTrust{Path: path, Digest: trust.Digest(file.Data), State: "trusted"}
	switch {
	case !look:
		if err := t.expects(path, shown.Digest); err != nil {
			return err
		}
		if err := t.store.TrustFile(path, file.Data); err != nil {
			return err
		}
	case !known:
		shown.State, shown.Diff = "new", changes(path, "", string(file.Data))
	case before.Digest != shown.Digest:
		shown.State, shown.Diff = "changed", changes(path, before.Text, string(file.Data))
	}
	v.Files = append(v.Files, shown)
	return nil
}

// listFiles adds all trusted files to the view.
func (t *truster) listFiles(v *trustView) error {
	files, err := t.store.Files()
	for _, known := range files {
		shown := fileTrust{Path: known.Path, Digest: known.Digest, State: "trusted"}
		if file, err := trust.Read(known.Path, false); err != nil {
			shown.State = "gone"
		} else if trust.Digest(file.Data) != known.Digest {
			shown.State = "changed"
		}
		v.Files = append(v.Files, shown)
	}
	return err
}
