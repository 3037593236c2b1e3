package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/install"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

const importHelp = `Import adds the servers of an MCP client's configuration as plugins, each as ` + "`toolhost mcp add`" + ` does. FILE has the
JSON key mcpServers or servers. With NAMEs, it adds these servers only. --dry-run shows what it would add, and changes nothing.

The value of each variable in env, and of each header, becomes a secret of the plugin: a file that only you can read, and a
grant in toolhost.yaml. If the value is ${NAME}, ${env:NAME} or $NAME, the secret is that variable of toolhost's environment.
FILE may have comments and trailing commas.

For each server, import prints that it was added, or why it was not. The exit code is 3 if one was not, unless the file
disables it. With -o json it prints an object: servers, each with name, plugin, added, reason, and result, which has the
fields of ` + "`toolhost mcp add`" + `.`

// imported is the result of `import`, as -o json prints it.
type imported struct {
	Servers []importedServer `json:"servers"`
}

type importedServer struct {
	Name   string `json:"name"`   // in the file
	Plugin string `json:"plugin"` // the name of the plugin
	Added  bool   `json:"added"`  // with --dry-run: it would be added
	Reason string `json:"reason"` // why it was not added
	Result *added `json:"result"` // null if it was not added

	wanted bool // it should have been added
}

func newImportCommand(p cli.Process) *cobra.Command {
	a := &adder{process: p, Installer: install.NewInstaller(p)}
	var (
		format cli.Format
		grants importGrants
	)
	cmd := &cobra.Command{
		Use:     "import FILE [NAME…]",
		Short:   "Make the MCP servers of a client's configuration plugins",
		Long:    importHelp,
		Example: "  toolhost mcp import --dry-run ~/.cursor/mcp.json\n  toolhost mcp import .mcp.json github",
		Args:    cli.Arguments(1, 1000),
		RunE: func(cmd *cobra.Command, args []string) error {
			if grants.paths != "" && grants.paths != manifest.AccessRead && grants.paths != manifest.AccessWrite {
				return cli.Usage("--paths: %q is not read or write", grants.paths)
			}
			done, err := a.importFile(cmd.Context(), args[0], args[1:], grants)
			if err != nil {
				return err
			}
			if format.JSON() {
				err = cli.WriteJSON(p.Stdout, done)
			} else {
				_, err = fmt.Fprint(p.Out(), done.text())
			}
			if err == nil && slices.ContainsFunc(done.Servers, func(s importedServer) bool { return s.wanted && !s.Added }) {
				err = &cli.ExitError{Code: cli.ExitInfrastructure}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&a.dryRun, "dry-run", false, "show what would be added, and change nothing")
	f.BoolVar(&a.replace, "replace", false, "replace plugins of the same names")
	f.BoolVar(&grants.network, "network", false, "permit the network to all servers with a command")
	f.StringVar(&grants.paths, "paths", "", "permit each server `ACCESS`, read or write, to the absolute paths among its arguments")
	a.AddFlags(f)
	format.AddFlag(f)
	return cmd
}

// importGrants are the grants that the operator gives to all servers of a file. What a server asks
// for in the file grants nothing.
type importGrants struct {
	network bool
	paths   string // the access to paths among the arguments; empty: none
}

// give adds the grants to a server with a command.
func (g importGrants) give(s *server) {
	if s.url != "" {
		return
	}
	s.requests.Network = g.network
	var paths []string
	for _, word := range s.command[1:] {
		if filepath.IsAbs(word) && serve.Exists(word) {
			paths = append(paths, filepath.Clean(word))
		}
	}
	switch g.paths {
	case manifest.AccessRead:
		s.requests.Read = paths
	case manifest.AccessWrite:
		s.requests.Write = paths
	}
}

// importFile adds the servers of a file, or those of the given names. It adds the others if one
// cannot be added.
func (a *adder) importFile(ctx context.Context, file string, names []string, grants importGrants) (*imported, error) {
	servers, err := readClientFile(file)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	for _, name := range names {
		if _, ok := servers[name]; !ok {
			return nil, cli.Usage("there is no server %q in %s; it has %s", name, file, strings.Join(slices.Sorted(maps.Keys(servers)), ", "))
		}
	}
	done := &imported{Servers: []importedServer{}}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		shown := importedServer{Name: name, Plugin: pluginName(name), wanted: true}
		if same := slices.IndexFunc(done.Servers, func(s importedServer) bool { return s.Plugin == shown.Plugin && s.Added }); same >= 0 {
			err = fmt.Errorf("the plugin would have the name of that for %q; import it from a file in which its name differs more", done.Servers[same].Name)
		} else {
			shown.Result, err = a.importServer(ctx, name, servers[name], grants)
		}
		if err != nil {
			shown.Reason, shown.wanted = err.Error(), !errors.Is(err, errDisabled)
		}
		shown.Added = err == nil
		done.Servers = append(done.Servers, shown)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return done, nil
}

func (a *adder) importServer(ctx context.Context, name string, text json.RawMessage, grants importGrants) (*added, error) {
	from, err := parseClientServer(text)
	if err != nil {
		return nil, err
	}
	s, err := from.server(name, a.process.Getenv)
	if err != nil {
		return nil, err
	}
	grants.give(s)
	done, err := a.add(ctx, s)
	if err != nil {
		return nil, err
	}
	if from.Cwd != "" {
		done.Warnings = append(done.Warnings, fmt.Sprintf("it does not run in %s: a server runs in the folder of its plugin", from.Cwd))
	}
	if slices.ContainsFunc(from.Args, secretWord.MatchString) {
		done.Warnings = append(done.Warnings, "an argument looks like a secret, and plugin.yaml shows it; give it to the server in env if the server permits")
	}
	return done, nil
}

// secretWord matches arguments that often hold a secret, or stand before one.
var secretWord = regexp.MustCompile(`(?i)token|secret|passw|api[-_]?key|authorization|bearer`)

func (d *imported) text() string {
	var b strings.Builder
	for _, s := range d.Servers {
		if s.Result == nil {
			fmt.Fprintf(&b, "skipped %s: %s\n", cli.OneLine(s.Name), cli.OneLine(s.Reason))
			continue
		}
		b.WriteString(s.Result.text())
		if s.Name != s.Plugin {
			fmt.Fprintf(&b, "  its name in the file is %s\n", cli.OneLine(s.Name))
		}
	}
	return b.String()
}
