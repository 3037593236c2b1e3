package target

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// NewCommand returns the command `target` of a program.
func NewCommand(program string, p cli.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "target",
		Short: "Name the servers that the commands talk to, and choose one",
		Long: fmt.Sprintf("A target is a name for a running %[1]s and for what it takes to reach it: address, CA, certificate, source of tokens.\n"+
			"A command talks to the target of --target, else of %[2]s, else to the one chosen with `%[1]s target use`.\n"+
			"--addr and %[3]s name an address instead. The target `%[4]s` is the %[1]s at this user's socket.\n\n"+
			"The targets are in $XDG_CONFIG_HOME/toolhost/%[1]s-targets.json, which only you may read or write. It holds no tokens:\n"+
			"it names a file or a command that has them.", program, Variable(program), address.Variable(program), Local),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	s := store{program, p.Getenv}
	cmd.AddCommand(newAddCommand(s, p), newUseCommand(s, p), newListCommand(s, p), newShowCommand(s, p), newRemoveCommand(s, p))
	return cmd
}

func newAddCommand(s store, p cli.Process) *cobra.Command {
	var t Target
	var replaces bool
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a target",
		Long: "Add stores a target. It checks the settings and reads the files of TLS, but does not connect. The connection uses TLS\n" +
			"unless the address is a unix socket or a loopback IP address without settings for TLS.",
		Args: cli.Arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			if err := checkName(name); err != nil {
				return cli.Usage("%w", err)
			}
			switch {
			case t.Address == "" && len(t.Nodes) == 0:
				return cli.Usage("--address is missing; use unix:///PATH or HOST:PORT")
			case t.Address != "" && len(t.Nodes) > 0:
				return cli.Usage("--address and --fleet exclude each other; --fleet takes several addresses")
			}
			if err := t.absolute(); err != nil {
				return err
			}
			if err := t.check(s.program, true); err != nil {
				return cli.Usage("%w", err)
			}
			err := s.change(func(all *targets) error {
				if _, exists := all.Targets[name]; exists && !replaces {
					return cli.Usage("the target %s exists; add --replace to change it", name)
				}
				all.Targets[name] = t
				return nil
			})
			if err != nil {
				return err
			}
			if t.TokenFile != "" && credential.OthersCanRead(t.TokenFile) {
				fmt.Fprintf(p.Err(), "%s: other users can read the token in %s; chmod 600 it\n", s.program, cli.OneLine(t.TokenFile))
			}
			with := "--target " + name
			if len(t.Nodes) > 0 {
				with = "--fleet " + with
			}
			_, err = fmt.Fprintf(p.Out(), "added the target %s; use it with %s, or from now on with: %s target use %[1]s\n", name, with, s.program)
			return err
		},
	}
	cmd.Example = fmt.Sprintf("  %s target add prod --address toolhost.example:7443 --ca ca.pem --token-file ~/.toolhost-token", s.program)
	if s.program == cli.Toolhost {
		cmd.Long += "\nWith --fleet a target is several toolhosts, which get the same credentials; `toolhost ps --fleet` and others ask all of them."
		cmd.Example += "\n  toolhost target add prod --fleet a=a.example:7443,b=b.example:7443 --ca ca.pem --token-file ~/.toolhost-token"
	}
	f := cmd.Flags()
	f.StringVar(&t.Address, "address", "", "`ADDRESS` of the server: HOST:PORT or unix:///PATH")
	if s.program == cli.Toolhost {
		f.StringSliceVar(&t.Nodes, "fleet", nil, "the `ADDRESSES` of several servers, with commas, each with or without NAME=, or dns:///HOST:PORT")
	}
	f.StringVar(&t.CA, "ca", "", "`FILE` with the CAs of the server, in PEM (default: the CAs of the system)")
	f.StringVar(&t.Certificate, "cert", "", "`FILE` with the client's certificate, in PEM")
	f.StringVar(&t.Key, "key", "", "`FILE` with the key of the certificate, in PEM")
	f.StringVar(&t.ServerName, "server-name", "", "`NAME` that the server's certificate must have (default: the host of the address)")
	f.StringVar(&t.TokenFile, "token-file", "", "`FILE` with a bearer token")
	f.StringVar(&t.TokenCommand, "token-command", "", "`LINE` of shell that prints a bearer token")
	f.BoolVar(&t.AllowPlainToken, "allow-plain-token", false, "send the token over a unix socket, and over loopback without TLS")
	f.BoolVar(&replaces, "replace", false, "replace the target if it exists")
	return cmd
}

func newUseCommand(s store, p cli.Process) *cobra.Command {
	return &cobra.Command{
		Use:               "use NAME",
		Short:             "Choose the target of all later commands",
		Long:              fmt.Sprintf("Use chooses the target of all later commands of this user. `%s target use %s` returns to this user's socket.", s.program, Local),
		Example:           fmt.Sprintf("  %s target use prod", s.program),
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: completeFirst(s.program, p),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			err := s.change(func(all *targets) error {
				if _, exists := all.Targets[name]; !exists && name != Local {
					return unknown(s.program, name, all)
				}
				all.Current = name
				if name == Local {
					all.Current = ""
				}
				return nil
			})
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(p.Out(), "the commands of %s now talk to the target %s\n", s.program, name); err != nil {
				return err
			}
			s.noteOverride(p)
			return nil
		},
	}
}

func newRemoveCommand(s store, p cli.Process) *cobra.Command {
	return &cobra.Command{
		Use:               "remove NAME",
		Short:             "Remove a target",
		Long:              "Remove removes a target. The files that it names stay. If the target is in use, later commands talk to this user's socket.",
		Example:           fmt.Sprintf("  %s target remove prod", s.program),
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: completeFirst(s.program, p),
		RunE: func(_ *cobra.Command, args []string) error {
			name, note := args[0], ""
			err := s.change(func(all *targets) error {
				if _, exists := all.Targets[name]; !exists {
					return unknown(s.program, name, all)
				}
				delete(all.Targets, name)
				if all.Current == name {
					all.Current, note = "", "; it was in use, so the commands now talk to this user's socket"
				}
				return nil
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(p.Out(), "removed the target %s%s\n", name, note)
			return err
		},
	}
}

// completeFirst offers the names of targets for the first argument.
func completeFirst(program string, p cli.Process) cobra.CompletionFunc {
	names := completeName(program, p)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(cmd, args, typed)
	}
}
