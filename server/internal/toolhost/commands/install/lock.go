package install

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/tool"
)

// NewLockCommand returns the command `lock`.
func NewLockCommand(p cli.Process) *cobra.Command {
	conn := operate.Connection{Process: p}
	var format cli.Format
	var file string
	cmd := &cobra.Command{
		Use:   "lock [PLUGIN…]",
		Short: "Allow plugins as they are now: write their digests into the lock file",
		Long: "Lock pins plugins to the digests that they have now, in the lock file that `toolhost serve --locked` follows. A\n" +
			"plugin whose file the lock file keeps out is pinned to that file, any other to what is in service. With names it\n" +
			"pins these plugins and leaves the others alone; without, it pins all, and what is not there is allowed no more.\n" +
			"A toolhost that follows the file takes the change over at once, without a failed call. What does not start is not\n" +
			"taken over: what ran before stays, its line in the file too, and the exit code is 3.\n" +
			"With -o json it prints an object: file, enforced, plugins, changed and failures.",
		Example:           "  toolhost lock\n  toolhost lock calculator",
		Args:              cli.Arguments(0, mostLocked),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("file") {
				path, err := serve.Absolute("--file", file)
				if err != nil {
					return err
				}
				file = path
			}
			return conn.With(func(c *client.Client) error {
				done, err := lock(cmd.Context(), p.Getenv, c, file, args)
				if err != nil {
					return err
				}
				return printLock(p, done, format.JSON())
			})
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "the `FILE` to write (default: the one that the toolhost is configured with)")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// mostLocked bounds the number of names on the command line. No user types as many.
const mostLocked = 10_000

// lock pins the named plugins, or all, in a lock file. If a toolhost follows the file, lock makes
// it reload. An empty path means the lock file of the toolhost.
func lock(ctx context.Context, getenv func(string) string, c *client.Client, path string, names []string) (*pinning, error) {
	own, err := c.Admin().LockFile(ctx)
	if err != nil {
		return nil, err
	}
	plugins, err := c.Admin().Plugins(ctx)
	if err != nil {
		return nil, err
	}
	p := &pinning{getenv: getenv, file: cmp.Or(path, own.Path), enforced: own.Enforced && (path == "" || path == filepath.Clean(own.Path))}
	if err := p.read(path != "" && len(names) == 0); err != nil {
		return nil, err
	}
	if err := p.choose(plugins, names); err != nil {
		return nil, err
	}
	if err := serve.WriteLock(getenv, p.file, p.lock); err != nil {
		return nil, err
	}
	if !p.enforced {
		return p, nil
	}
	return p, p.enforce(ctx, c)
}

// lockView is the result of `lock`, as -o json prints it.
type lockView struct {
	File     string               `json:"file"`
	Enforced bool                 `json:"enforced"`
	Plugins  map[string]string    `json:"plugins"` // digests by name
	Changed  []lockChange         `json:"changed"`
	Failures []tool.ReloadFailure `json:"failures"`
}

// lockChange is a plugin whose digest the lock file did not allow before.
type lockChange struct {
	Plugin         string `json:"plugin"`
	Digest         string `json:"digest"`
	PreviousDigest string `json:"previous_digest,omitempty"`
}

func printLock(p cli.Process, done *pinning, asJSON bool) error {
	view := lockView{
		File: done.file, Enforced: done.enforced, Plugins: map[string]string{},
		Changed: []lockChange{}, Failures: []tool.ReloadFailure{},
	}
	for name, pin := range done.lock {
		view.Plugins[name] = pin.Digest
	}
	for _, w := range done.wishes {
		if w.failed != "" {
			view.Failures = append(view.Failures, tool.ReloadFailure{Plugin: w.name, Reason: w.failed})
		} else if w.digest != w.before.Digest {
			view.Changed = append(view.Changed, lockChange{Plugin: w.name, Digest: w.digest, PreviousDigest: w.before.Digest})
		}
	}
	var err error
	if asJSON {
		err = cli.WriteJSON(p.Stdout, view)
	} else {
		_, err = fmt.Fprint(p.Out(), view.text())
	}
	if err != nil || len(view.Failures) == 0 {
		return err
	}
	var reasons []string
	for _, f := range view.Failures {
		reasons = append(reasons, cli.OneLine(fmt.Sprintf("%s: %s", f.Plugin, cli.ShortenDigests(f.Reason))))
	}
	return &cli.ExitError{Code: cli.ExitInfrastructure, Err: fmt.Errorf(
		"%s not taken over; what was there before stays, and what the lock file said of it\n  %s",
		cli.Were(cli.Count(len(view.Failures), "plugin"), len(view.Failures)), strings.Join(reasons, "\n  "))}
}

func (v *lockView) text() string {
	var b strings.Builder
	for _, c := range v.Changed {
		fmt.Fprintf(&b, "allowed %s: %s", c.Plugin, cli.ShortDigest(c.Digest))
		if c.PreviousDigest != "" {
			fmt.Fprintf(&b, " instead of %s", cli.ShortDigest(c.PreviousDigest))
		}
		if v.Enforced {
			b.WriteString("; it is in service")
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s allows %s", v.File, cli.Count(len(v.Plugins), "plugin"))
	if v.Enforced {
		b.WriteString(", and toolhost follows it\n")
	} else {
		b.WriteString("; toolhost serve follows it with --locked, and with --lock-file if that is another\n")
	}
	return b.String()
}
