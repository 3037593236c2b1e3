package install

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/tool"
)

// NewInstallCommand returns the command `install`.
func NewInstallCommand(p cli.Process) *cobra.Command {
	i := NewInstaller(p)
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "install PATH",
		Short: "Put a plugin into the folder of plugins, under its name",
		Long: "Install starts the plugin, an executable or a folder with a plugin.yaml, in the same sandbox as `toolhost serve`,\n" +
			"reads its description, and copies it into the folder of plugins under the name that it gives itself. What was there\n" +
			"under that name is replaced in one step. A plugin that does not answer, or says something wrong, is refused with the\n" +
			"reason, and nothing is changed.\n" +
			"A toolhost that runs and looks into that folder takes the plugin over at once, without a failed call; if it cannot,\n" +
			"what was there before is put back, and the exit code is 3. If there is a lock file, the plugin is allowed in it.\n" +
			"What the plugin asks to be allowed is shown, with the lines of toolhost.yaml that grant it.\n" +
			"With -o json it prints an object: plugin, version, path, digest, tools, replaced, in_service, needs_login, lock_file,\n" +
			"ungranted and warnings.",
		Example: "  toolhost install build/weather\n  toolhost install . --plugins /opt/toolhost/plugins",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := serve.CheckPlugin(args[0], "`make install` may install it"); err != nil {
				return err
			}
			done, err := i.Install(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, done)
			}
			_, err = fmt.Fprint(p.Out(), done.text())
			return err
		},
	}
	i.AddFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// Installed is the result of `install`, as -o json prints it.
type Installed struct {
	Plugin    string   `json:"plugin"`
	Version   string   `json:"version"`
	Path      string   `json:"path"`
	Digest    string   `json:"digest"`
	Tools     []string `json:"tools"`
	Replaced  bool     `json:"replaced"`   // a plugin of the name was there before
	InService bool     `json:"in_service"` // a running toolhost serves the plugin
	// it is an MCP server whose tools can be read after a login only
	NeedsLogin bool `json:"needs_login"`
	// the lock file that allows the plugin; empty means none
	LockFile  string           `json:"lock_file"`
	Ungranted []tool.Ungranted `json:"ungranted"` // requests that the configuration does not grant
	Warnings  []string         `json:"warnings"`

	note string // why the plugin is not in service
}

// Note says why the plugin is not in service. It is empty if it is.
func (d *Installed) Note() string { return d.note }

func (d *Installed) text() string {
	var b strings.Builder
	verb := "installed"
	if d.Replaced {
		verb = "replaced"
	}
	what := cli.Count(len(d.Tools), "tool")
	if d.NeedsLogin && !d.InService {
		what = "its tools are read after a login"
	}
	if len(d.Tools) > 0 {
		what += ", " + strings.Join(d.Tools, ", ")
	}
	fmt.Fprintf(&b, "%s %s: %s\n", verb, strings.TrimSpace(d.Plugin+" "+d.Version), what)
	fmt.Fprintf(&b, "  %s, %s\n", d.Path, cli.ShortDigest(d.Digest))
	if d.LockFile != "" {
		fmt.Fprintf(&b, "  allowed in %s\n", d.LockFile)
	}
	if d.InService {
		b.WriteString("  in service\n")
	} else {
		fmt.Fprintf(&b, "  %s\n", d.note)
	}
	for _, u := range d.Ungranted {
		fmt.Fprintf(&b, "asks for %s, which is not granted; in toolhost.yaml: %s\n", u.Request, u.Grant)
	}
	for _, w := range d.Warnings {
		fmt.Fprintf(&b, "note: %s\n", cli.OneLine(cli.ShortenDigests(w)))
	}
	return b.String()
}
