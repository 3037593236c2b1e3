package operate

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newToolsSearchCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var chosen selection
	cmd := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find tools by words, the best match first",
		Long: "Search finds the tools that hold one of the words, in any form, and prints the best match first: rare words count\n" +
			"more than frequent ones, and a tool's name more than its description. Scores can be compared within one answer.\n" +
			"With -o json it prints an array of objects: those of `toolhost tools`, and score.",
		Example:           "  toolhost tools search read a file",
		Args:              cli.Arguments(1, math.MaxInt),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			query, err := chosen.query()
			if err != nil {
				return err
			}
			words := strings.TrimSpace(strings.Join(args, " "))
			if words == "" {
				return cli.Usage("WORDS are empty; say in a few what the tool should do")
			}
			return conn.WithAny(func(c *client.Client) error {
				matches, err := c.SearchTools(cmd.Context(), words, query)
				if err != nil {
					return err
				}
				return writeMatches(p.Stdout, p.Screen(), matches, format.JSON())
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	chosen.addFlags(cmd, "10")
	return cmd
}

// matchView is a found tool, as -o json prints it.
type matchView struct {
	toolView
	Score float64 `json:"score"`
}

func writeMatches(w io.Writer, screen cli.Screen, matches []tool.Match, asJSON bool) error {
	if asJSON {
		views := []matchView{}
		for _, m := range matches {
			views = append(views, matchView{viewTool(m.Info), math.Round(m.Score*1e4) / 1e4})
		}
		return cli.WriteJSON(w, views)
	}
	rows := [][]string{}
	for _, m := range matches {
		rows = append(rows, []string{m.Spec.Name, m.Plugin, fmt.Sprintf("%.2f", m.Score), oneLineOf(m.Info)})
	}
	return cli.WriteTable(w, screen, []string{"NAME", "PLUGIN", "SCORE", "DESCRIPTION"}, rows)
}
