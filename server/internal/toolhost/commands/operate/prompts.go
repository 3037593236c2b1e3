package operate

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewPromptsCommand returns the command `prompts`.
func NewPromptsCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var flags offerFlags
	cmd := &cobra.Command{
		Use:     "prompts",
		Short:   "List the prompts that plugins offer, or fill one in",
		Long:    "Prompts lists the texts for a conversation that MCP servers offer, with their arguments. It starts the servers that offer any.\nThe servers chose all texts. `agentd chat` offers the prompts as /NAME.",
		Example: "  toolhost prompts\n  toolhost prompts get review language=go",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			query, err := flags.query()
			if err != nil {
				return err
			}
			return conn.With(func(c *client.Client) error { return listPrompts(cmd.Context(), c, p, query, format.JSON()) })
		},
	}
	flags.add(cmd, "only those of this `PLUGIN`")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	cmd.AddCommand(newGetPromptCommand(p))
	return cmd
}

func listPrompts(ctx context.Context, c *client.Client, p cli.Process, query tool.ResourceQuery, asJSON bool) error {
	listed, err := c.ListPrompts(ctx, query)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(p.Stdout, listed)
	}
	tellUnlisted(p.Err(), listed.Unlisted)
	if len(listed.Prompts) == 0 {
		fmt.Fprintln(p.Err(), "no plugin offers prompts")
		return nil
	}
	rows := make([][]string, len(listed.Prompts))
	for i, prompt := range listed.Prompts {
		var arguments []string
		for _, a := range prompt.Arguments {
			if a.Required {
				arguments = append(arguments, a.Name)
			} else {
				arguments = append(arguments, "["+a.Name+"]")
			}
		}
		rows[i] = []string{prompt.Name, prompt.Plugin, strings.Join(arguments, " "), summaryOf(prompt.Title, prompt.Name, prompt.Description)}
	}
	return cli.WriteTable(p.Stdout, p.Screen(), []string{"NAME", "PLUGIN", "ARGUMENTS", "DESCRIPTION"}, rows)
}

func newGetPromptCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var flags offerFlags
	cmd := &cobra.Command{
		Use:     "get NAME [ARGUMENT=VALUE...]",
		Short:   "Print a prompt with its arguments filled in",
		Long:    "Get prints the messages of a prompt. If several plugins offer the name, --plugin has to name one. In a terminal, characters that\ncould steer it are shown as escapes.",
		Example: "  toolhost prompts get review language=go",
		Args:    cli.Arguments(1, 1000),
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := flags.query()
			if err != nil {
				return err
			}
			arguments := map[string]string{}
			for _, argument := range args[1:] {
				name, value, ok := strings.Cut(argument, "=")
				if !ok || name == "" {
					return cli.Usage("%q is not an argument of a prompt; write it as NAME=VALUE", argument)
				}
				arguments[name] = value
			}
			return conn.With(func(c *client.Client) error {
				text, err := c.GetPrompt(cmd.Context(), tool.PromptRequest{Requester: query.Requester, Plugin: query.Plugin, Name: args[0], Arguments: arguments})
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, text)
				}
				return printPrompt(p.Stdout, text)
			})
		},
	}
	flags.add(cmd, "the `PLUGIN` that offers the prompt")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// printPrompt writes the messages of a prompt. A prompt with one text is that text.
func printPrompt(w io.Writer, text tool.PromptText) error {
	var b strings.Builder
	for i, m := range text.Messages {
		if len(text.Messages) > 1 {
			if i > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "%s:\n", m.Role)
		}
		b.WriteString(strings.TrimRight(m.Text(), "\n") + "\n")
	}
	if cli.IsTerminal(w) {
		w = cli.NewPrinter(w)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
