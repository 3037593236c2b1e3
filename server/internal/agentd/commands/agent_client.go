package commands

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
)

// server finds the `agentd serve` that works on a run.
type server struct {
	setup  setup
	choice target.Choice
}

func (s *server) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.setup.file, "config", "", "configuration `FILE` (default: ./agentd.yaml, else $XDG_CONFIG_HOME/toolhost/agentd.yaml)")
	s.choice.Program = program
	s.choice.AddFlags(flags)
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
		at.Announce(s.setup.process.Err())
	}
	return at.Advise(use(a), "`agentd serve`, go on with the run yourself with `agentd resume RUN`")
}
