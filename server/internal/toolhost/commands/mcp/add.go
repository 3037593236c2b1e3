package mcp

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/install"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

const addHelp = `Add makes an MCP server a plugin: a folder with a plugin.yaml in the folder of plugins. It starts the server once in the
sandbox, lists its tools, and trusts them as they are now. If the server changes a tool later, calls of that tool fail until
` + "`toolhost trust`" + ` accepts the change.

Add does not run npx and uvx. It installs the package that they would run with npm or pip into the folder of the plugin, pins
it and its dependencies by their hashes, and runs it from there without a network. npm and pip run in a sandbox, with the network
and your settings for their registry alone. They run no script of a package and build none, and take only archives of the
registry. Without a sandbox, add fails. --replace installs what the registry has now.

Everything else is a program in PATH, or a file that is copied into the folder. --folder copies a folder, such as that of
server.js in: toolhost mcp add notes --folder ~/notes-server -- node server.js

A server at a URL has no process. It gets --header with each request, and toolhost connects to public addresses only, and to
those of --address. With --oauth, each person logs in to it; its tools are known, and trusted, after the login of an operator:
toolhost mcp login NAME.

The server gets no variable of your environment. --env keeps a value as a secret, in a file that only you can read. The flags
--network, --workspace, --read and --write write a grant into toolhost.yaml; so do secrets.
With -o json it prints an object: plugin, version, path, digest, tools, replaced, in_service, needs_login, package, command,
network, secrets, config, grants and warnings.`

const addExample = `  toolhost mcp add time -- uvx mcp-server-time --local-timezone Europe/Berlin
  toolhost mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv/data
  toolhost mcp add wiki --header 'Authorization: Bearer ${WIKI_TOKEN}' https://wiki.example/mcp
  toolhost mcp add docs --oauth https://docs.example/mcp
  toolhost mcp add github --network --env GITHUB_TOKEN -- npx -y @example/github@1.2.3`

// addFlags are the flags of `mcp add`.
type addFlags struct {
	env, set, secrets []string
	headers           []string
	trustAnnotations  bool
	format            cli.Format
}

func newAddCommand(p cli.Process) *cobra.Command {
	a := &adder{process: p, Installer: install.NewInstaller(p)}
	var s server
	var flags addFlags
	cmd := &cobra.Command{
		Use:     "add NAME -- COMMAND…|URL",
		Short:   "Make an MCP server a plugin",
		Long:    addHelp,
		Example: addExample,
		Args: func(_ *cobra.Command, args []string) error {
			if missing := []string{"NAME", "COMMAND or URL"}; len(args) < len(missing) {
				return fmt.Errorf("%s is missing", missing[len(args)])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			s.name, s.trusted = args[0], flags.trustAnnotations
			if err := flags.fill(&s, args[1:], p.Getenv); err != nil {
				return cli.Usage("%w", err)
			}
			done, err := a.add(cmd.Context(), &s)
			if err != nil {
				return err
			}
			if flags.format.JSON() {
				return cli.WriteJSON(p.Stdout, done)
			}
			_, err = fmt.Fprint(p.Out(), done.text())
			return err
		},
	}
	f := cmd.Flags()
	flags.add(f, &s)
	f.BoolVar(&a.replace, "replace", false, "replace the plugin of that name, such as by a newer version")
	a.AddFlags(f)
	flags.format.AddFlag(f)
	return cmd
}

func (flags *addFlags) add(f *pflag.FlagSet, s *server) {
	f.StringArrayVar(&flags.env, "env", nil, "`VARIABLE[=VALUE]` of the server, kept as a secret; without VALUE, that of toolhost's environment; may be given more than once")
	f.StringArrayVar(&flags.secrets, "secret", nil, "`VARIABLE=NAME`: the variable gets a secret of toolhost.yaml; may be given more than once")
	f.StringArrayVar(&flags.set, "set", nil, "`VARIABLE=VALUE` of the server that is no secret; may be given more than once")
	f.StringArrayVar(&flags.headers, "header", nil, "`NAME: VALUE` of each request to a URL, kept as a secret; ${NAME} in VALUE is a variable of toolhost's environment; may be given more than once")
	f.BoolVar(&s.oauth, "oauth", false, "each person logs in to the server at a URL")
	f.StringArrayVar(&s.addresses, "address", nil, "`ADDRESS` or network that is not public and that a URL may lead to, such as 127.0.0.1; may be given more than once")
	f.StringVar(&s.prefix, "prefix", "", "`PREFIX` of the names of its tools")
	f.BoolVar(&flags.trustAnnotations, "trust-annotations", false, "obey what the server says about its tools, such as that one only reads; without it, all count as dangerous")
	f.StringVar(&s.protocol, "protocol", "", "`VERSION` of MCP to begin with (default: the newest)")
	f.BoolVar(&s.requests.Network, "network", false, "permit the network")
	f.StringVar(&s.requests.Workspace, "workspace", "", "`ACCESS` to the workspace: none, read or write (default: that of all plugins)")
	f.StringArrayVar(&s.requests.Read, "read", nil, "`PATH` that it may read; may be given more than once")
	f.StringArrayVar(&s.requests.Write, "write", nil, "`PATH` that it may write; may be given more than once")
	f.StringVar(&s.folder, "folder", "", "`DIR` whose content the plugin gets")
	f.StringVar(&s.lock, "lock-packages", "", "`FILE` with the hashes of all packages, instead of what the registry has now: a package-lock.json, or a requirements file")
	f.BoolVar(&s.noScripts, "skip-install-scripts", false, "install packages that have install scripts, without running the scripts")
}

// fill adds the flags and the command to the server.
func (flags *addFlags) fill(s *server, command []string, getenv func(string) string) error {
	if strings.HasPrefix(command[0], "https://") || strings.HasPrefix(command[0], "http://") {
		s.url = command[0]
		if len(command) > 1 {
			return fmt.Errorf("%q is one argument too many after a URL", command[1])
		}
	} else {
		s.command = command
	}
	s.secrets, s.set = map[string]secret{}, map[string]string{}
	for _, text := range flags.env {
		variable, value, given := strings.Cut(text, "=")
		each := secret{name: secretName(s.name, variable), value: value}
		if !given {
			each.variable = variable
		}
		s.secrets[variable] = each
	}
	s.headers = map[string]header{}
	for _, text := range flags.headers {
		name, value, given := strings.Cut(text, ":")
		e := expander{plugin: s.name, getenv: getenv}
		h, err := e.header(name, strings.TrimSpace(value))
		switch {
		case !given: // the text may be a token, so the error does not repeat it
			return errors.New("--header needs a name, a colon and a value, such as \"Authorization: Bearer ${TOKEN}\"")
		case err != nil:
			return fmt.Errorf("--header %s: %w", name, err)
		}
		s.headers[name] = h
	}
	for _, text := range flags.secrets {
		variable, name, given := strings.Cut(text, "=")
		if !given {
			return fmt.Errorf("--secret %s: write VARIABLE=NAME", text)
		}
		s.secrets[variable] = secret{name: name, known: true}
	}
	for _, text := range flags.set {
		variable, value, given := strings.Cut(text, "=")
		if !given {
			return fmt.Errorf("--set %s: write VARIABLE=VALUE", text)
		}
		s.set[variable] = value
	}
	for _, paths := range [][]string{s.requests.Read, s.requests.Write} {
		for i, path := range paths {
			absolute, err := filepath.Abs(path)
			if err != nil {
				return err
			}
			paths[i] = absolute
		}
	}
	switch s.requests.Workspace {
	case "", manifest.AccessNone, manifest.AccessRead, manifest.AccessWrite:
		return nil
	}
	return fmt.Errorf("--workspace: %q is not none, read or write", s.requests.Workspace)
}
