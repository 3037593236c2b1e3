package commands

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func newSendCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var files []string
	cmd := &cobra.Command{
		Use:   `send RUN "MESSAGE"`,
		Short: "Send a message to a run of agentd serve",
		Long: "Send adds a message of yours to a run. A run at work reads it before its next model request, and a run that has ended\n" +
			"goes on with it. The files of --attach go with the message, if the model of the run reads their types.",
		Example: "  agentd send run-k3f6zq7xw2m4n5pa \"Leave the tests out\"\n" +
			"  agentd send run-k3f6zq7xw2m4n5pa --attach photo.png \"It looks like this\"",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 || args[0] == "" || strings.TrimSpace(args[1]) == "" {
				return cli.Usage("name one run and say the message in one argument, in quotes: agentd send RUN \"MESSAGE\"; `agentd runs` lists the runs")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			attached, err := readAttachments(cmd.Context(), p, files)
			if err != nil {
				return err
			}
			return s.change(cmd.Context(), func(a *client.AgentClient) error {
				if _, err := a.SendMessage(cmd.Context(), args[0], args[1], attached...); err != nil {
					return err
				}
				_, err := fmt.Fprintf(p.Out(), "the run %s has the message\n", args[0])
				return err
			})
		},
	}
	s.addFlags(cmd.Flags())
	addAttachFlag(cmd.Flags(), &files)
	return cmd
}
