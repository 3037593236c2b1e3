package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newRestartCommand(p cli.Process) *cobra.Command {
	conn := connection{process: p}
	var format cli.Format
	var force bool
	cmd := &cobra.Command{
		Use:   "restart PLUGIN",
		Short: "Replace a plugin's process",
		Long: "Restart starts a new process of a plugin. Once it is ready it takes the new calls, and the old process ends the\n" +
			"calls that it has and stops. If the new process does not start, the old one stays.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: conn.completePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.with(func(c *client.Client) error {
				done, err := c.Restart(cmd.Context(), args[0], force)
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, restartView{
						Plugin:    args[0],
						Restarted: tool.Restarted{Stopped: append([]string{}, done.Stopped...), Started: append([]string{}, done.Started...)},
					})
				}
				_, err = fmt.Fprintf(p.Stdout, "restarted %s: stopped %s, started %s\n", args[0], list(done.Stopped), list(done.Started))
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "stop the old process at once, whatever it does")
	conn.addFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// restartView is what a restart did, as -o json prints it.
type restartView struct {
	Plugin string `json:"plugin"`
	tool.Restarted
}

func list(ids []string) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}
