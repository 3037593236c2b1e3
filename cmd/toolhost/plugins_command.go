package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newPluginsCommand(p cli.Process) *cobra.Command {
	conn := connection{process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "plugins",
		Short: "List plugins, also those that cannot be used, with the reason",
		Long:  "Plugins lists all plugins by name. With -o json it prints an array of objects.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return conn.with(func(c *client.Client) error {
				plugins, err := c.Plugins(cmd.Context())
				if err != nil {
					return err
				}
				if format.JSON() {
					for i := range plugins {
						if plugins[i].Tools == nil {
							plugins[i].Tools = []string{}
						}
					}
					return cli.WriteJSON(p.Stdout, plugins)
				}
				return cli.WriteTable(p.Stdout, []string{"PLUGIN", "VERSION", "STATE", "TOOLS", "INSTANCES", "LAUNCHES", "PATH", "NOTES"}, pluginRows(plugins))
			})
		},
	}
	conn.addFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

func pluginRows(plugins []tool.PluginInfo) [][]string {
	rows := [][]string{}
	for _, p := range plugins {
		var notes []string
		if p.Reason != "" {
			notes = append(notes, p.Reason)
		}
		if e := p.LastExit; e != nil && (e.Code != 0 || e.Signal != "" || e.OutOfMemory) {
			notes = append(notes, "the last instance ended: "+p.LastExit.String())
		}
		notes = append(notes, p.Warnings...)
		rows = append(rows, []string{
			p.Name, dash(p.Version), string(p.State), strconv.Itoa(len(p.Tools)), strconv.Itoa(p.Instances),
			strconv.FormatUint(p.Launches, 10), p.Path, strings.Join(notes, "; "),
		})
	}
	return rows
}

// dash stands for an empty cell, so that columns can be told apart.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
