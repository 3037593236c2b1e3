package operate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
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
			"With -o json it prints an array of objects.\n" + fleetHelp("plugins"),
		Example: "  toolhost plugins\n  toolhost plugins --fleet --target prod",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if conn.fleet {
				return conn.pluginsOfFleet(cmd.Context(), wide, format.JSON())
			}
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
				if len(plugins) == 0 {
					fmt.Fprintf(p.Err(), "this toolhost has no plugins; `toolhost install PATH` puts one into %s,\n"+
						"or into the folder that --plugins names, and `toolhost new NAME` creates one\n", cli.PluginsFolder(p.Getenv))
					return nil
				}
				return cli.WriteTable(p.Stdout, p.Screen(), pluginHeader(hasFilters(plugins), wide), pluginRows(plugins, time.Now(), wide, hasFilters(plugins)))
			})
		},
	}
	cmd.Flags().BoolVarP(&wide, "wide", "w", false, "show the access to the workspace, digests and paths too")
	conn.AddFlag(cmd.Flags())
	conn.addFleetFlags(cmd.Flags(), "ask", nodeTimeout)
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
	return slices.ContainsFunc(plugins, func(p tool.PluginInfo) bool { return len(p.Filters)+len(p.OwnFilters) > 0 })
}

// filterNames returns the names of a plugin's filters. Those that the plugin applies to its own
// tools are marked, because no configuration of the operator names them.
func filterNames(p tool.PluginInfo) []string {
	own := map[string]bool{}
	for _, f := range p.OwnFilters {
		own[f.Name] = true
	}
	var names []string
	for _, name := range p.Filters {
		if !own[name] {
			names = append(names, name)
		}
	}
	for _, f := range p.OwnFilters {
		names = append(names, f.Name+" (own)")
	}
	slices.Sort(names)
	return names
}

func pluginHeader(filters, wide bool) []string {
	header := []string{"PLUGIN", "VERSION", "STATE", "RETRY", "TOOLS", "INSTANCES", "LAUNCHES"}
	if filters {
		header = append(header, "FILTERS")
	}
	if wide {
		header = append(header, "WORKSPACE", "DIGEST", "PATH")
	}
	return append(header, "NOTES")
}

func pluginRows(plugins []tool.PluginInfo, now time.Time, wide, filters bool) [][]string {
	rows := [][]string{}
	for _, p := range plugins {
		row := []string{
			p.Name, cli.Dash(p.Version), stateWords(p.State), cli.Dash(retry(p, now)), strconv.Itoa(len(p.Tools)),
			strconv.Itoa(p.Instances), strconv.FormatUint(p.Launches, 10),
		}
		if filters {
			row = append(row, cli.Dash(strings.Join(filterNames(p), ",")))
		}
		if wide {
			row = append(row, workspaceOf(p), cli.Dash(cli.ShortDigest(p.Digest)), p.Path)
		}
		rows = append(rows, append(row, pluginNotes(p, now)))
	}
	return rows
}

// workspaceOf returns the access of a plugin to the workspace.
func workspaceOf(p tool.PluginInfo) string {
	if p.WorkspaceBackend == "" {
		return "-"
	}
	return workspaceText(p.Workspace, p.WorkspaceBackend)
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
