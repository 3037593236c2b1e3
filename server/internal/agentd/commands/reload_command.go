package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/tool"
)

func newReloadCommand(p cli.Process) *cobra.Command {
	return configurationCommand(p, &cobra.Command{
		Use:   "reload",
		Short: "Apply a changed agentd.yaml to new runs",
		Long: "Reload lets a running `agentd serve` apply the changes of its configuration file to runs that start from now on. Runs\n" +
			"that work keep the configuration that they began with. A file with an error changes nothing: reload prints the error\n" +
			"and exits with 2. It names settings that need a restart. With -o json it prints an object: file, changes (key, old,\n" +
			"new, restart), and problem.",
		Example: "  agentd reload",
	}, (*client.AgentClient).Reload, reloadResult)
}

func newConfigCommand(p cli.Process) *cobra.Command {
	cmd := configuration().Command(p)
	cmd.AddCommand(newConfigDiffCommand(p))
	return cmd
}

func newConfigDiffCommand(p cli.Process) *cobra.Command {
	return configurationCommand(p, &cobra.Command{
		Use:   "diff",
		Short: "Show what `agentd reload` would change",
		Long: "Diff compares the configuration file of a running `agentd serve` with the configuration in force. It prints each\n" +
			"setting that differs with both values, and which of them need a restart. It changes nothing. It exits with 0 if\n" +
			"nothing differs, with 1 if something does, and with 2 if agentd would refuse the file. With -o json it prints an\n" +
			"object: file, changes (key, old, new, restart), and problem.",
		Example: "  agentd config diff",
	}, (*client.AgentClient).DiffConfiguration, diffResult)
}

// configurationCommand completes a command about the configuration of an agentd. ask requests the
// change. result returns the text for people, and the error with the exit code.
func configurationCommand(p cli.Process, cmd *cobra.Command, ask func(*client.AgentClient, context.Context) (tool.ConfigurationChange, error),
	result func(*configfile.Diff) (string, error)) *cobra.Command {
	var format cli.Format
	s := &server{setup: setup{process: p}}
	cmd.Args = cli.Arguments(0, 0)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var change tool.ConfigurationChange
		err := s.change(cmd.Context(), func(c *client.AgentClient) (err error) {
			change, err = ask(c, cmd.Context())
			return err
		})
		if err != nil {
			return err
		}
		diff := &configfile.Diff{File: change.File, Problem: change.Problem, Changes: []configfile.Change{}}
		for _, s := range change.Changes {
			diff.Changes = append(diff.Changes, configfile.Change{Key: s.Key, Old: s.Old, New: s.New, Restart: s.Restart})
		}
		text, failed := result(diff)
		if format.JSON() {
			err = cli.WriteJSON(p.Stdout, diff)
		} else {
			_, err = fmt.Fprint(p.Out(), text)
		}
		if err != nil {
			return err
		}
		return failed
	}
	s.addFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

func diffResult(d *configfile.Diff) (string, error) { return d.Text(), d.Exit(program) }

func reloadResult(d *configfile.Diff) (string, error) {
	if d.Problem != "" {
		return "", d.Exit(program)
	}
	var applied, pending []string
	for _, c := range d.Changes {
		if c.Restart {
			pending = append(pending, c.Key)
		} else {
			applied = append(applied, c.Key)
		}
	}
	applied, pending = slices.Compact(applied), slices.Compact(pending) // a list has a change for each element
	text := "nothing changed in the configuration\n"
	if len(d.Changes) > 0 {
		text = ""
	}
	if len(applied) > 0 {
		text += cli.OneLine("in force for new runs: "+strings.Join(applied, ", ")) + "\n"
	}
	if len(pending) > 0 {
		text += cli.OneLine("note: restart agentd to apply "+strings.Join(pending, ", ")) + "\n"
	}
	return text, nil
}
