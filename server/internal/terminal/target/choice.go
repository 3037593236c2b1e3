package target

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/text/nearest"
	"github.com/toolhost/toolhost/internal/wire/credential"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// Choice is how a command line says which server it means. The zero value, with Program and Process
// set, chooses by the environment and the current target.
type Choice struct {
	Program string // of the server, such as toolhost
	Process cli.Process
	Addr    string // the flag --addr; "": not given
	Target  string // the flag --target; "": not given
	// Configured is the address of a configuration file, which counts after the environment and the
	// current target. "": none.
	Configured string
}

// AddFlags adds --addr and --target.
func (c *Choice) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.Addr, "addr", "",
		"`ADDRESS` of the "+c.Program+": unix:///PATH or HOST:PORT (default: "+address.Variable(c.Program)+", else the target in use)")
	c.AddTargetFlag(flags)
}

// AddTargetFlag adds --target, for a command with an --addr that means more.
func (c *Choice) AddTargetFlag(flags *pflag.FlagSet) {
	flags.StringVar(&c.Target, "target", "",
		"`NAME` of the "+c.Program+" in the list of `"+c.Program+" target` (default: "+Variable(c.Program)+", else the target in use)")
}

// Variable returns the name of the environment variable with the name of a target.
func Variable(program string) string { return strings.ToUpper(program) + "_TARGET" }

// Server is the server that a command uses.
type Server struct {
	Program  string
	Address  address.Address     // zero with Several
	Several  string              // addresses of which any will do, as client.Dial takes them; "": one
	Target   string              // the name of the target; "" if the address has none
	Settings credential.Settings // of the target; those of the environment otherwise
	options  []client.DialOption // the same as Settings
}

// Find returns the server of the command line: that of --addr or --target, else of the environment,
// else the target in use, else Configured, else the default socket of this user. Errors are usage
// errors, and of code ExitUntrusted for a file of targets that others could have written.
func (c *Choice) Find() (Server, error) {
	addr, name, err := c.choose()
	switch {
	case err != nil:
		return Server{}, err
	case name != "":
		return c.named(name)
	}
	return c.at(addr)
}

// FindAny is Find for a command that any of several servers can answer. It also takes a list of
// addresses, a name of DNS, and a target that is a fleet.
func (c *Choice) FindAny() (Server, error) {
	addr, name, err := c.choose()
	if err != nil {
		return Server{}, err
	}
	if name == "" {
		text := cmp.Or(addr, c.Process.Getenv(address.Variable(c.Program)))
		if !address.IsSeveral(text) {
			return c.at(addr)
		}
		if _, err := address.ParseServers(text); err != nil {
			return Server{}, cli.Usage("%w", err)
		}
		return Server{Program: c.Program, Several: text}, nil
	}
	if name != Local {
		all, err := c.store().read()
		if err != nil {
			return Server{}, err
		}
		if t := all.Targets[name]; len(t.Nodes) > 0 {
			if err := t.check(c.Program, false); err != nil {
				return Server{}, cli.Usage("the target %s: %w", name, err)
			}
			return Server{Program: c.Program, Several: t.several(), Target: name, Settings: t.settings(), options: t.options()}, nil
		}
	}
	return c.named(name)
}

// choose returns the address or the name of a target that the command line, the environment or the
// target in use says. Both are empty if the environment has an address, or if there is no choice.
func (c *Choice) choose() (addr, name string, err error) {
	env := c.Process.Getenv
	inEnv, nameInEnv := env(address.Variable(c.Program)), env(Variable(c.Program))
	switch {
	case c.Addr != "" && c.Target != "":
		return "", "", cli.Usage("--addr and --target exclude each other")
	case c.Addr != "" || c.Target != "":
		return c.Addr, c.Target, nil
	case inEnv != "" && nameInEnv != "":
		return "", "", cli.Usage("the environment has %s and %s; unset one of them", address.Variable(c.Program), Variable(c.Program))
	case inEnv != "" || nameInEnv != "":
		return "", nameInEnv, nil
	}
	all, err := c.store().read()
	switch {
	case err != nil:
		return "", "", err
	case all.Current != "":
		return "", all.Current, nil
	}
	return c.Configured, "", nil
}

// Named returns the address or the name of the target that the command line, the environment or the
// target in use says. Both are empty if none does. A program with commands that need no server uses
// none then: Configured does not count. Errors are those of Find.
func (c *Choice) Named() (addr, name string, err error) {
	addr, name, err = (&Choice{Program: c.Program, Process: c.Process, Addr: c.Addr, Target: c.Target}).choose()
	if err == nil && addr == "" && name == "" {
		addr = c.Process.Getenv(address.Variable(c.Program))
	}
	return addr, name, err
}

// at returns the server at an address, or at that of the environment.
func (c *Choice) at(addr string) (Server, error) {
	at, err := address.Find(addr, c.Program, c.Process.Getenv)
	if err != nil {
		return Server{}, cli.Usage("%w", err)
	}
	return Server{Program: c.Program, Address: at}, nil
}

// named returns the server of a target.
func (c *Choice) named(name string) (Server, error) {
	if name == Local {
		at := address.Local(c.Program, c.Process.Getenv)
		return Server{Program: c.Program, Address: at, Settings: Target{}.settings(), options: Target{}.options()}, nil
	}
	all, err := c.store().read()
	if err != nil {
		return Server{}, err
	}
	target, node, inFleet := strings.Cut(name, "/")
	t, ok := all.Targets[target]
	if !ok {
		return Server{}, unknown(c.Program, name, all)
	}
	if err := t.check(c.Program, false); err != nil {
		return Server{}, cli.Usage("the target %s: %w", target, err)
	}
	switch {
	case inFleet && len(t.Nodes) == 0:
		return Server{}, cli.Usage("the target %s is one server; use --target %[1]s", target)
	case inFleet:
		return c.oneOf(target, node, t)
	case len(t.Nodes) > 0:
		return Server{}, cli.Usage("the target %[1]s is a fleet, %[2]s; choose one server with --target %[1]s/NODE, or use a command with --fleet", name, cli.OneLine(t.where()))
	}
	at, err := address.ParseServer(t.Address)
	if err != nil {
		return Server{}, cli.Usage("the target %s: %w", name, err)
	}
	return Server{Program: c.Program, Address: at, Target: name, Settings: t.settings(), options: t.options()}, nil
}

func (c *Choice) store() store { return store{c.Program, c.Process.Getenv} }

// unknown returns the error about a target that does not exist.
func unknown(program, name string, all *targets) error {
	meant := ""
	if near := nearest.Names(name, append(all.names(), Local), 1); len(near) > 0 {
		meant = fmt.Sprintf(" (did you mean %s?)", near[0])
	}
	return cli.Usage("there is no target %q%s; see `%s target list`", name, meant, program)
}

// DialAddress returns the address for a client of the server.
func (s Server) DialAddress() string { return cmp.Or(s.Several, s.Address.String()) }

// DialOptions returns the options of a client of the server.
func (s Server) DialOptions() []client.DialOption {
	return append(cli.DialOptions(s.Address), s.options...)
}

// Announce prints which server a command is about to change, unless it is the one at the default
// socket or its address is on the command line.
func (s Server) Announce(w io.Writer) {
	switch {
	case s.Target != "":
		fmt.Fprintf(w, "%s: this is the target %s (%s)\n", s.Program, cli.OneLine(s.Target), cli.OneLine(s.DialAddress()))
	case s.Address.IsRemote() || s.Several != "":
		fmt.Fprintf(w, "%s: this is the server at %s\n", s.Program, cli.OneLine(s.DialAddress()))
	}
}

// Advise adds to an error that no server answers how to start one or to name another one.
func (s Server) Advise(err error, start string) error {
	if err == nil || cli.CodeOf(err) != cli.ExitNoServer {
		return err
	}
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	advice := fmt.Sprintf("start one with %s, or name another with --addr or %s", start, address.Variable(s.Program))
	switch {
	case unverified && s.Target != "":
		name, _, _ := strings.Cut(s.Target, "/")
		advice = fmt.Sprintf("`%s target show %s` says which CA and which name the certificate must have", s.Program, name)
	case unverified:
		advice = fmt.Sprintf("%[1]s_TLS_CA names the file with its CA, and %[1]s_TLS_SERVER_NAME the name in it", strings.ToUpper(s.Program))
	case s.Target != "":
		advice = fmt.Sprintf("the target %s names this address, see `%s target list`", s.Target, s.Program)
	case s.Address.IsRemote():
		advice = "check the address"
	}
	advised := fmt.Errorf("%w; %s", err, advice)
	if exit, ok := errors.AsType[*cli.ExitError](err); ok {
		return &cli.ExitError{Code: exit.Code, Err: advised}
	}
	return advised
}

// CompleteFlags makes the shells complete --target in all commands below root.
func CompleteFlags(root *cobra.Command, program string, p cli.Process) {
	for _, cmd := range root.Commands() {
		if cmd.Flags().Lookup("target") != nil {
			_ = cmd.RegisterFlagCompletionFunc("target", completeName(program, p)) // fails only for a flag that does not exist
		}
		CompleteFlags(cmd, program, p)
	}
}

// completeName offers the names of targets. It ignores errors, because a shell cannot show them.
func completeName(program string, p cli.Process) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		all, err := store{program, p.Getenv}.read()
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		offered := []cobra.Completion{cobra.CompletionWithDesc(Local, "the "+program+" at this user's socket")}
		for _, name := range all.names() {
			offered = append(offered, cobra.CompletionWithDesc(name, cli.OneLine(all.Targets[name].where())))
		}
		return offered, cobra.ShellCompDirectiveNoFileComp
	}
}
