package commands

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
)

// server finds the `agentd serve` that works on a run.
type server struct {
	setup  setup
	choice target.Choice
	found  serverChoice // what open has found; the zero value: the journal of this user
}

func (s *server) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.setup.file, "config", "", "configuration `FILE` (default: ./agentd.yaml, else $XDG_CONFIG_HOME/toolhost/agentd.yaml)")
	s.addServerFlags(flags)
}

func (s *server) addServerFlags(flags *pflag.FlagSet) {
	s.choice.Program = program
	s.choice.AddFlags(flags)
}

// open returns with if the command uses a server, else read: the function that calls its argument
// with a client that reads runs.
func (s *server) open() (reach func(context.Context, func(*client.AgentClient) error) error, served bool, err error) {
	if served, err = s.named(); served {
		return s.with, true, err
	}
	return s.read, false, err
}

// named reports whether a command that also works without a server uses one: that of --addr or
// --target, of the environment, or the target in use. The flag --journal has precedence over the
// latter two.
func (s *server) named() (served bool, err error) {
	flags := s.choice.Addr != "" || s.choice.Target != ""
	switch {
	case s.setup.journal != "" && flags:
		return false, cli.Usage("--journal is a file, and --addr and --target are servers; use one of them")
	case s.setup.journal != "":
		return false, nil
	case flags:
		s.found = serverChoice{addr: s.choice.Addr, target: s.choice.Target}
		return true, nil
	}
	s.found, err = chosen(s.setup.process)
	return s.found != (serverChoice{}), err
}

// with calls use with a client. If no server answers, it adds to the error how to start one.
func (s *server) with(ctx context.Context, use func(*client.AgentClient) error) error {
	return s.reach(ctx, false, use)
}

// change is with for a command that changes the server or its runs. It first prints which server
// that is, if a person could take it for another one.
func (s *server) change(ctx context.Context, use func(*client.AgentClient) error) error {
	return s.reach(ctx, true, use)
}

func (s *server) reach(ctx context.Context, changes bool, use func(*client.AgentClient) error) error {
	if err := s.setup.load(ctx); err != nil {
		return err
	}
	s.choice.Process, s.choice.Configured = s.setup.process, s.setup.config.Listen
	at, err := s.choice.Find()
	if err != nil {
		return err
	}
	a, err := client.DialAgent(at.Address.String(), at.DialOptions()...)
	if err != nil {
		return err
	}
	defer a.Close()
	if changes {
		s.found.announce(s.setup.process.Err(), at)
	}
	return at.Advise(use(a), "`agentd serve`, go on with the run yourself with `agentd resume RUN`")
}
