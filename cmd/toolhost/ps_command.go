package main

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newPsCommand(p cli.Process) *cobra.Command {
	conn := connection{process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "ps",
		Short: "List running plugin processes",
		Long: "Ps lists the running plugin processes, ordered by plugin and start. With -o json it prints an array of objects;\n" +
			"rss_bytes is 0 where it is not known.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return conn.with(func(c *client.Client) error {
				instances, err := c.Instances(cmd.Context(), "")
				if err != nil {
					return err
				}
				views := viewInstances(instances, time.Now())
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, views)
				}
				rows := [][]string{}
				for _, v := range views {
					rows = append(rows, []string{
						v.ID, v.Plugin, string(v.State), strconv.Itoa(v.PID), strconv.Itoa(v.Calls),
						cli.Age(time.Duration(v.UptimeMS) * time.Millisecond), cli.Size(v.RSSBytes),
					})
				}
				return cli.WriteTable(p.Stdout, []string{"INSTANCE", "PLUGIN", "STATE", "PID", "CALLS", "UPTIME", "MEMORY"}, rows)
			})
		},
	}
	conn.addFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// instanceView is an instance as -o json prints it.
type instanceView struct {
	tool.InstanceInfo
	UptimeMS int64 `json:"uptime_ms"`
}

func viewInstances(instances []tool.InstanceInfo, now time.Time) []instanceView {
	views := []instanceView{}
	for _, i := range instances {
		v := instanceView{InstanceInfo: i}
		if !i.StartTime.IsZero() {
			v.UptimeMS = max(now.Sub(i.StartTime).Milliseconds(), 0)
		}
		views = append(views, v)
	}
	return views
}
