package commands

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func newConsoleCommand(p cli.Process) *cobra.Command {
	at := server{setup: setup{process: p}}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Print the address of agentd's pages, and a code to log in",
		Long: "Console asks the running agentd for a code with which you log in at its pages in a browser, where you see what waits for a\n" +
			"decision, and decide. The code is yours: do not give it to others. It works once, within a minute.\n\n" +
			"It needs a unix socket, which proves who you are, and `console:` in the agentd.yaml of agentd. The exit code is 4 if no\n" +
			"agentd answers, or if it has no pages. With -o json it prints one object.",
		Example: "  agentd console",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return at.with(cmd.Context(), func(a *client.AgentClient) error {
				c, err := a.ConsoleCode(cmd.Context())
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, consoleView{c.URL, c.Code, c.Expires})
				}
				_, err = fmt.Fprintf(p.Out(), "%s/login\ncode: %s\n", c.URL, c.Code)
				return err
			})
		},
	}
	at.addFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// consoleView is a code as -o json prints it.
type consoleView struct {
	URL        string    `json:"url"`
	Code       string    `json:"code"`
	ExpireTime time.Time `json:"expire_time"`
}
