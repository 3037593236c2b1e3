package operate

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
)

// Connection finds the toolhost of a client command. Process must be set.
type Connection struct {
	Process cli.Process
	choice  target.Choice

	fleet    bool          // --fleet
	nodeWait time.Duration // --node-timeout
}

// nodeTimeout is the time that each toolhost of a fleet has to answer a question, unless the user
// says otherwise. A person waits for it if one toolhost does not answer.
const nodeTimeout = 5 * time.Second

// addFleetFlags adds --fleet and --node-timeout. what says what the command does with each
// toolhost.
func (c *Connection) addFleetFlags(flags *pflag.FlagSet, what string, wait time.Duration) {
	flags.BoolVar(&c.fleet, "fleet", false, what+" every toolhost of the target, see toolhost target add, or of a list in --addr")
	flags.DurationVar(&c.nodeWait, "node-timeout", wait, "with --fleet: how `LONG` each toolhost may take to answer")
}

// AddFleetFlags adds --fleet, to ask every toolhost of a fleet, and --node-timeout, which is wait
// unless the user says otherwise.
func (c *Connection) AddFleetFlags(flags *pflag.FlagSet, wait time.Duration) {
	c.addFleetFlags(flags, "ask", wait)
}

// AsksFleet reports whether the user has given --fleet.
func (c *Connection) AsksFleet() bool { return c.fleet }

// Fleet returns the toolhosts of the command line, and the value of --node-timeout.
func (c *Connection) Fleet(ctx context.Context) ([]target.Node, time.Duration, error) {
	nodes, err := c.nodes(ctx)
	return nodes.Nodes, c.nodeWait, err
}

// nodes returns the fleet of the command line.
func (c *Connection) nodes(ctx context.Context) (target.Fleet, error) {
	if c.nodeWait <= 0 {
		return target.Fleet{}, cli.Usage("--node-timeout: %s is not positive; use a duration such as 5s", c.nodeWait)
	}
	c.choice.Program, c.choice.Process = cli.Toolhost, c.Process
	return c.choice.FindFleet(ctx)
}

// AddFlag adds the flags --addr and --target.
func (c *Connection) AddFlag(flags *pflag.FlagSet) {
	c.choice.Program = cli.Toolhost
	c.choice.AddFlags(flags)
}

// With calls use with a client, and closes the client. If no server answers, it adds to the error
// how to start one.
func (c *Connection) With(use func(*client.Client) error) error {
	return c.with(false, c.choice.Find, use)
}

// WithAny is With for a command that any of several toolhosts with one ledger can answer.
func (c *Connection) WithAny(use func(*client.Client) error) error {
	return c.with(false, c.choice.FindAny, use)
}

// ChangeAny is Change for such a command.
func (c *Connection) ChangeAny(use func(*client.Client) error) error {
	return c.with(true, c.choice.FindAny, use)
}

// Arguments returns the flag with which another process finds the same toolhost, whatever its
// environment and the target in use are then. remote reports that the address may be on another
// machine and belongs to no target, so that the environment has the credentials.
func (c *Connection) Arguments() (flags []string, remote bool, err error) {
	c.choice.Program, c.choice.Process = cli.Toolhost, c.Process
	server, err := c.choice.Find()
	switch {
	case err != nil:
		return nil, false, err
	case server.Target != "":
		return []string{"--target=" + server.Target}, false, nil
	}
	return []string{"--addr=" + server.Address.String()}, server.Address.IsRemote(), nil
}

// Change is With for a command that changes the server. It first prints which server that is, if a
// person could take it for another one.
func (c *Connection) Change(use func(*client.Client) error) error {
	return c.with(true, c.choice.Find, use)
}

func (c *Connection) with(changes bool, find func() (target.Server, error), use func(*client.Client) error) error {
	c.choice.Program, c.choice.Process = cli.Toolhost, c.Process
	server, err := find()
	if err != nil {
		return err
	}
	toolhost, err := client.Dial(server.DialAddress(), server.DialOptions()...)
	if err != nil {
		return err
	}
	defer toolhost.Close()
	if changes {
		server.Announce(c.Process.Err())
	}
	return server.Advise(use(toolhost), "`toolhost serve`")
}
