package mcp

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/server/internal/toolhost/mcp/mcpserver"
	"github.com/toolhost/toolhost/tool"
)

const serveHelp = `Serve is an MCP server on standard input and output, for the configuration of an MCP client. It connects to a toolhost
that runs, and offers the tools that you may call there, or those of them that the flags choose. It starts no toolhost: run
` + "`toolhost serve`" + ` first. ` + "`toolhost mcp connect`" + ` writes the configuration of a client.

It speaks the versions 2025-11-25 and 2026-07-28 of the protocol. A call that needs an approval asks the user of the client by
elicitation. If the client cannot ask, toolhost holds the call: the answer says how to approve it, and then the same call
passes once. A large result is a link that resources/read reads page by page. A client may put a call id into _meta of
tools/call as toolhost/callId: the call is then executed once, however often the client repeats it.

Serve ends with exit code 0 when standard input ends. Its log goes to standard error.`

const serveExample = `  toolhost mcp serve --tag files --dangerous=false
  {"mcpServers": {"toolhost": {"command": "toolhost", "args": ["mcp", "serve"]}}}`

func newServeCommand(p cli.Process) *cobra.Command {
	conn := operate.Connection{Process: p}
	var offered profile
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Offer the tools of a running toolhost on standard input and output",
		Long:    serveHelp,
		Example: serveExample,
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := offered.check(); err != nil {
				return err
			}
			return conn.With(func(c *client.Client) error {
				log := logging.Open(logging.Config{To: p.Stderr})
				defer log.Close()
				config := mcpserver.Config{
					Tools: c, ListChangedTools: c.ListChangedTools, Visible: cli.Visible, Search: offered.search,
					Choice: offered.filter.Query(), Session: offered.session, ApprovalWait: offered.wait, Logger: log.Logger(loglevel.Server),
				}
				return serveClient(cmd.Context(), c, mcpserver.New(config), p)
			})
		},
	}
	offered.addFlags(cmd.Flags())
	conn.AddFlag(cmd.Flags())
	return cmd
}

// reachTime is how long toolhost has to answer at the start. A client shows the message of a server
// that ends, but nothing about one that waits.
const reachTime = 10 * time.Second

// serveClient checks that toolhost answers, and serves the client until its input ends or ctx ends.
func serveClient(ctx context.Context, c *client.Client, server *mcpserver.Server, p cli.Process) error {
	reaching, cancel := context.WithTimeout(ctx, reachTime)
	_, err := c.ListTools(reaching, tool.Query{MaxTools: 1})
	cancel()
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	// Ends when the input ends. A read from a pipe cannot be interrupted, so after ctx ends the
	// goroutine may live until the process exits, which is next.
	go func() { ended <- server.Run(ctx, io.NopCloser(p.Stdin), keepOpen{p.Stdout}) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// keepOpen is a writer that the MCP server must not close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }
