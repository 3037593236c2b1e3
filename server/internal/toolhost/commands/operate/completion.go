package operate

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// completionWait bounds the time that a person waits after pressing the tab key.
const completionWait = 2 * time.Second

// completeTool offers the names of tools for the first argument. It ignores errors, because a shell
// cannot show them.
func (c *Connection) completeTool(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return c.complete(cmd, args, func(ctx context.Context, toolhost *client.Client) ([]cobra.Completion, error) {
		infos, err := toolhost.ListTools(ctx, tool.Query{})
		var names []cobra.Completion
		for _, i := range infos {
			names = append(names, offer(i.Spec.Name, i.Spec.Description))
		}
		return names, err
	})
}

// CompletePlugin offers the names of plugins for the first argument.
func (c *Connection) CompletePlugin(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return c.complete(cmd, args, func(ctx context.Context, toolhost *client.Client) ([]cobra.Completion, error) {
		plugins, err := toolhost.Admin().Plugins(ctx)
		var names []cobra.Completion
		for _, p := range plugins {
			names = append(names, offer(p.Name, p.Description))
		}
		return names, err
	})
}

// offer returns a completion with the first line of its description.
func offer(name, description string) cobra.Completion {
	return cobra.CompletionWithDesc(name, cli.OneLine(cli.Clip(description, descriptionWidth)))
}

func (c *Connection) complete(cmd *cobra.Command, args []string, names func(context.Context, *client.Client) ([]cobra.Completion, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionWait)
	defer cancel()
	var offered []cobra.Completion
	err := c.With(func(toolhost *client.Client) (err error) {
		offered, err = names(ctx, toolhost)
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return offered, cobra.ShellCompDirectiveNoFileComp
}
