package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginfolder"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// NewUninstallCommand returns the command `uninstall`.
func NewUninstallCommand(p cli.Process) *cobra.Command {
	i := NewInstaller(p)
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "uninstall NAME",
		Short: "Take a plugin out of the folder of plugins",
		Long: "Uninstall removes the plugin of a name from the folder of plugins, and from the lock file if there is one. A toolhost\n" +
			"that runs lets the calls that are under way end.\n" +
			"With -o json it prints an object: plugin, path and lock_file.",
		Example:           "  toolhost uninstall weather",
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: i.conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			done, err := i.uninstall(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, done)
			}
			allowed := ""
			if done.LockFile != "" {
				allowed = ", and " + done.LockFile + " does not allow it any more"
			}
			_, err = fmt.Fprintf(p.Out(), "uninstalled %s: %s is gone%s\n", done.Plugin, done.Path, allowed)
			return err
		},
	}
	i.AddFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// uninstalled is the result of `uninstall`, as -o json prints it.
type uninstalled struct {
	Plugin string `json:"plugin"`
	Path   string `json:"path"`
	// the lock file that could allow the plugin; empty means none
	LockFile string `json:"lock_file"`
}

func (i *Installer) uninstall(ctx context.Context, name string) (*uninstalled, error) {
	if err := tool.CheckName(name); err != nil {
		return nil, cli.Usage("%w", err)
	}
	options, folder, err := i.existing(ctx, name)
	if err != nil {
		return nil, err
	}
	done := &uninstalled{Plugin: name, Path: folder.Path(name)}
	lockFile := options.LockFile
	err = i.conn.Change(func(c *client.Client) error {
		own, err := c.Admin().LockFile(ctx)
		if err != nil {
			return err
		}
		lockFile = own.Path
		plugins, err := c.Admin().Plugins(ctx)
		if err != nil {
			return err
		}
		// The file of the plugin may have any name.
		if path := owner(plugins, name, ""); path != "" && samePath(path, folder.Path(filepath.Base(path))) {
			done.Path = path
		}
		if err := remove(folder, done); err != nil {
			return err
		}
		_, err = c.Admin().ReloadPlugins(ctx)
		return err
	})
	if cli.CodeOf(err) == cli.ExitNoServer && err != nil {
		err = remove(folder, done)
	}
	if err == nil {
		_, err = trust.NewUserStore(i.conn.Process.Getenv).RevokePlugin(done.Path)
	}
	if err != nil {
		return nil, err
	}
	done.LockFile, err = pin(i.conn.Process.Getenv, lockFile, name, nil)
	return done, err
}

// existing returns the folder to remove a plugin from. If the user names none, it is the folder of
// the toolhost that serves the plugin.
func (i *Installer) existing(ctx context.Context, name string) (serve.Options, *pluginfolder.Folder, error) {
	if i.plugins == "" {
		// The removal itself reports a toolhost that does not answer.
		_ = i.conn.With(func(c *client.Client) error {
			plugins, err := c.Admin().Plugins(ctx)
			if path := owner(plugins, name, ""); path != "" {
				i.plugins = filepath.Dir(path)
			}
			return err
		})
	}
	options, err := i.folderOptions()
	if err != nil {
		return options, nil, err
	}
	if _, err := os.Stat(options.Folders[0]); err != nil {
		return options, nil, fmt.Errorf("looking for the folder of plugins: %w; name it with --plugins", err)
	}
	folder, err := pluginfolder.Open(options.Folders[0])
	return options, folder, err
}

func remove(folder *pluginfolder.Folder, d *uninstalled) error {
	err := folder.Remove(filepath.Base(d.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return &cli.ExitError{Code: cli.ExitInfrastructure, Err: tool.Errorf(tool.KindNotFound,
			"there is no plugin %s in %s; %s", d.Plugin, filepath.Dir(d.Path), others(folder))}
	}
	return err
}
