package commands

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func newExtendCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	cmd := &cobra.Command{
		Use:   "extend DECISION [DURATION]",
		Short: "Give a decision more time",
		Long: "Extend moves the end of a decision that waits: by DURATION, such as 90m, or by a day. A decision waits for 7 days in all, and\n" +
			"the question of a tool no longer than its call. Who may approve or answer may extend, also where a rule has four eyes. The\n" +
			"end says nothing about the content, so a verdict of who has looked before counts.",
		Example: "  agentd inbox extend run-k3f6zq7xw2m4n5pa/d1\n  agentd inbox extend run-k3f6zq7xw2m4n5pa/d1 90m",
		Args:    cli.Arguments(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			by := time.Duration(0)
			if len(args) == 2 {
				var err error
				if by, err = time.ParseDuration(args[1]); err != nil || by <= 0 {
					return cli.Usage("%q is no duration; write it as 90m or 36h", args[1])
				}
			}
			return s.change(cmd.Context(), func(a *client.AgentClient) error {
				d, err := a.InboxDecision(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if d, err = a.ExtendDecision(cmd.Context(), d.Name, cli.LaterEnd(d.Requested, d.Expires, by)); err != nil {
					return err
				}
				_, err = fmt.Fprintf(p.Out(), "%s: waits until %s\n", cli.OneLine(d.Name), d.Expires.Local().Format(time.DateTime))
				return err
			})
		},
	}
	s.addFlags(cmd.Flags())
	return cmd
}
