package agentd

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/rpc/agentclient"
)

// server holds the address of the `agentd serve` that works on a run.
type server struct {
	setup
	addr string
}

func (s *server) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.file, "config", "", "configuration `FILE` (default: ./agentd.yaml, else $XDG_CONFIG_HOME/toolhost/agentd.yaml)")
	flags.StringVar(&s.addr, "addr", "",
		"`ADDRESS` of the agentd: unix:///PATH or 127.0.0.1:PORT (default: "+address.Variable(program)+", else this user's socket)")
}

// with calls use with a client. If no server answers, it adds to the error how to start one.
func (s *server) with(use func(*agentclient.Client) error) error {
	if err := s.load(); err != nil {
		return err
	}
	given := s.addr
	if given == "" && s.process.Getenv(address.Variable(program)) == "" {
		given = s.config.Listen
	}
	addr, err := address.Find(given, program, s.process.Getenv)
	if err != nil {
		return cli.Usage("%w", err)
	}
	a := agentclient.New(addr)
	defer a.Close()
	err = use(a)
	if err != nil && cli.CodeOf(err) == cli.ExitNoServer {
		return fmt.Errorf("%w; start one with `agentd serve`, name another with --addr or %s, or go on with the run yourself: agentd resume RUN",
			err, address.Variable(program))
	}
	return err
}
