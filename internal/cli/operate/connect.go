package operate

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/cli"
)

// Connection finds the toolhost of a client command. Process must be set.
type Connection struct {
	Process cli.Process
	addr    string
}

// AddFlag adds the flag --addr.
func (c *Connection) AddFlag(flags *pflag.FlagSet) {
	flags.StringVar(&c.addr, "addr", "",
		"`ADDRESS` of the toolhost: unix:///PATH or 127.0.0.1:PORT (default: "+address.Variable(cli.Toolhost)+", else this user's socket)")
}

// With calls use with a client, and closes the client. If no server answers, it adds to the error
// how to start one.
func (c *Connection) With(use func(*client.Client) error) error {
	addr, err := address.Find(c.addr, cli.Toolhost, c.Process.Getenv)
	if err != nil {
		return cli.Usage("%w", err)
	}
	toolhost, err := client.Dial(addr.String(), cli.DialOptions(addr)...)
	if err != nil {
		return err
	}
	defer toolhost.Close()
	return advise(use(toolhost))
}

func advise(err error) error {
	if err == nil || cli.CodeOf(err) != cli.ExitNoServer {
		return err
	}
	advised := fmt.Errorf("%w; start one with `toolhost serve --plugins DIR`, or name another with --addr or %s", err, address.Variable(cli.Toolhost))
	if exit, ok := errors.AsType[*cli.ExitError](err); ok {
		return &cli.ExitError{Code: exit.Code, Err: advised}
	}
	return advised
}
