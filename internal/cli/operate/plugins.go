package operate

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewPluginsCommand returns the command `plugins`.
func NewPluginsCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var wide bool
	cmd := &cobra.Command{
		Use:   "plugins",
		Short: "List plugins, also those that cannot be used, with the reason",
		Long: "Plugins lists all plugins by name: the state of each, when it is tried again if it crashed, how many of its\n" +
			"processes run and how many were started in all, and what is wrong with it. `toolhost why PLUGIN` tells more.\n" +
			"With -o json it prints an array of objects.",
		Args: cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return conn.With(func(c *client.Client) error {
				plugins, err := c.Admin().Plugins(cmd.Context())
				if err != nil {
					return err
				}
				if format.JSON() {
					for i := range plugins {
						plugins[i] = printablePlugin(plugins[i])
					}
					return cli.WriteJSON(p.Stdout, plugins)
				}
				return cli.WriteTable(p.Stdout, p.Screen(), pluginHeader(plugins, wide), pluginRows(plugins, time.Now(), wide))
			})
		},
	}
	cmd.Flags().BoolVarP(&wide, "wide", "w", false, "show digests and paths too")
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// printablePlugin returns a plugin for -o json. It replaces a nil list of tools by an empty one.
func printablePlugin(p tool.PluginInfo) tool.PluginInfo {
	if p.Tools == nil {
		p.Tools = []string{}
	}
	return p
}

// hasFilters reports whether a plugin has filters. The table leaves out the column if none has, as
// is usual.
func hasFilters(plugins []tool.PluginInfo) bool {
	return slices.ContainsFunc(plugins, func(p tool.PluginInfo) bool { return len(p.Filters) > 0 })
}

func pluginHeader(plugins []tool.PluginInfo, wide bool) []string {
	header := []string{"PLUGIN", "VERSION", "STATE", "RETRY", "TOOLS", "INSTANCES", "LAUNCHES"}
	if hasFilters(plugins) {
		header = append(header, "FILTERS")
	}
	if wide {
		header = append(header, "DIGEST", "PATH")
	}
	return append(header, "NOTES")
}

func pluginRows(plugins []tool.PluginInfo, now time.Time, wide bool) [][]string {
	rows := [][]string{}
	filters := hasFilters(plugins)
	for _, p := range plugins {
		row := []string{
			p.Name, cli.Dash(p.Version), stateWords(p.State), cli.Dash(retry(p, now)), strconv.Itoa(len(p.Tools)),
			strconv.Itoa(p.Instances), strconv.FormatUint(p.Launches, 10),
		}
		if filters {
			row = append(row, cli.Dash(strings.Join(p.Filters, ",")))
		}
		if wide {
			row = append(row, cli.Dash(cli.ShortDigest(p.Digest)), p.Path)
		}
		rows = append(rows, append(row, pluginNotes(p, now)))
	}
	return rows
}

// pluginNotes returns the problems of a plugin.
func pluginNotes(p tool.PluginInfo, now time.Time) string {
	var notes []string
	if p.Reason != "" {
		notes = append(notes, p.Reason)
	} else if e := lastCrash(p); e != nil {
		notes = append(notes, e.Instance+" crashed "+ago(e.Time, now)+": "+e.Exit.String())
	}
	if len(p.Ungranted) > 0 {
		notes = append(notes, ungrantedRequests(p.Ungranted))
	}
	return cli.OneLine(cli.ShortenDigests(strings.Join(append(notes, p.Warnings...), "; ")))
}
