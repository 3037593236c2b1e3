package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewPsCommand returns the command `ps`.
func NewPsCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var wide, following bool
	var tenants tool.Tenants
	cmd := &cobra.Command{
		Use:   "ps [PLUGIN]",
		Short: "List running plugin processes",
		Long: "Ps lists the running plugin processes, or those of one plugin, ordered by plugin and start, with the limits that\n" +
			"hold for each, those that this machine cannot enforce, and its sandbox. With --wide it shows by what means, too: what\n" +
			"was granted, and each sandbox mechanism, effective or not, with the reason. With -o json it prints an array of objects; rss_bytes is\n" +
			"0 where it is not known.\n" +
			"With -f it goes on until it is interrupted, which is no failure: a terminal shows the list again each second. Elsewhere it\n" +
			"prints a line for each process that is new, has changed or has exited, with -o json an object. If the toolhost goes away\n" +
			"it says so and exits with code 4.\n" + fleetHelp("instances"),
		Example:           "  toolhost ps --wide\n  toolhost ps -f\n  toolhost ps --fleet --target prod",
		Args:              cli.Arguments(0, 1),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			ask := func(ctx context.Context, c *client.Client) ([]instanceView, error) {
				return listInstances(ctx, c, strings.Join(args, ""), tenants)
			}
			if conn.fleet && following {
				return cli.Usage("--fleet and --follow: ps follows one toolhost, such as that of --target prod/b")
			}
			if conn.fleet {
				return conn.psOfFleet(cmd.Context(), ask, wide, format.JSON())
			}
			return conn.With(func(c *client.Client) error {
				if following {
					return followInstances(cmd.Context(), c, p, ask, wide, format.JSON())
				}
				views, err := ask(cmd.Context(), c)
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, views)
				}
				return cli.WriteTable(p.Stdout, p.Screen(), instanceHeader(wide), instanceRows(views, wide))
			})
		},
	}
	cmd.Flags().BoolVarP(&wide, "wide", "w", false, "show tenants, calls in all, digests, and by what means limits and sandboxes hold too")
	cmd.Flags().BoolVarP(&following, "follow", "f", false, "go on with the processes as they change")
	tenantFlag(cmd.Flags(), &tenants, "processes")
	conn.AddFlag(cmd.Flags())
	conn.addFleetFlags(cmd.Flags(), "ask", nodeTimeout)
	format.AddFlag(cmd.Flags())
	return cmd
}

// betweenLists is the pause of ps -f. A list costs toolhost about what a call does.
const betweenLists = time.Second

// followInstances shows the instances that ask returns until ctx ends.
func followInstances(ctx context.Context, c *client.Client, p cli.Process, ask func(context.Context, *client.Client) ([]instanceView, error), wide, asJSON bool) error {
	changes := terminal.NewChanges(ctx, p, asJSON, instanceHeader(wide))
	lists := terminal.Every(ctx, betweenLists, func(ctx context.Context) ([]instanceView, error) { return ask(ctx, c) })
	err := follow(ctx, lists, func(views []instanceView) error {
		rows := []terminal.Row{}
		cells := instanceRows(views, wide)
		for i, v := range views {
			gone := v
			gone.State, gone.Calls = tool.InstanceExited, 0
			rows = append(rows, terminal.Row{
				Key: v.ID, Cells: cells[i], Value: v, Gone: instanceRows([]instanceView{gone}, wide)[0], GoneValue: gone,
				Mark: fmt.Sprint(v.State, v.PID, v.Calls, v.Tenant),
			})
		}
		return changes.Show(rows)
	})
	return errors.Join(err, changes.End())
}

func listInstances(ctx context.Context, c *client.Client, plugin string, tenants tool.Tenants) ([]instanceView, error) {
	instances, err := c.Admin().Instances(ctx, plugin)
	if err != nil {
		return nil, err
	}
	if len(tenants) > 0 {
		instances = slices.DeleteFunc(instances, func(i tool.InstanceInfo) bool { return !tenants.Contain(i.Tenant) })
	}
	return viewInstances(instances, time.Now()), nil
}

func instanceHeader(wide bool) []string {
	header := []string{"INSTANCE", "PLUGIN", "STATE", "PID", "CALLS", "UPTIME", "MEMORY"}
	if wide {
		header = append(header, "TENANT", "TOTAL CALLS", "DIGEST")
	}
	return append(header, "LIMITS", "SANDBOX")
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

func instanceRows(views []instanceView, wide bool) [][]string {
	rows := [][]string{}
	for _, v := range views {
		pid := "-"
		if v.PID != 0 {
			pid = strconv.Itoa(v.PID)
		}
		row := []string{
			v.ID, v.Plugin, string(v.State), pid, strconv.Itoa(v.Calls),
			cli.Age(time.Duration(v.UptimeMS) * time.Millisecond), cli.Size(v.RSSBytes),
		}
		limits, walls := limitSummary(v.Limits), SandboxSummary(v.Sandbox)
		if wide {
			row = append(row, cli.Dash(v.Tenant), number(v.TotalCalls), cli.Dash(cli.ShortDigest(v.Digest)))
			limits, walls = limitDetails(v.Limits), sandboxDetails(v.Sandbox)
		}
		rows = append(rows, append(row, limits, walls))
	}
	return rows
}

// limitDetails returns the limits of a process for people: name, value and mechanism, and the
// reason for each limit that no mechanism enforces.
func limitDetails(all []tool.EffectiveLimit) string {
	var parts []string
	for _, l := range all {
		means := l.Mechanism
		if l.Mechanism == "none" {
			means = "not enforced"
		}
		if l.Note != "" {
			means = cmp.Or(means, "note") + ": " + l.Note
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", limitText(l), means))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// limitSummary returns the limits of a process in few words: name and value, and which limits no
// mechanism enforces. It leaves out namespaces, because they have no value.
func limitSummary(all []tool.EffectiveLimit) string {
	var parts []string
	for _, l := range all {
		switch {
		case l.Name == "pid_namespace":
		case l.Mechanism == "none":
			parts = append(parts, limitText(l)+" (not enforced)")
		default:
			parts = append(parts, limitText(l))
		}
	}
	return cli.Dash(strings.Join(parts, ", "))
}

// limitText returns the name and the value of a limit.
func limitText(l tool.EffectiveLimit) string {
	value := l.Value
	if bytes, err := strconv.ParseUint(value, 10, 64); err == nil && (l.Name == "memory" || l.Name == "file_size") {
		value = cli.Size(bytes)
	}
	return strings.ReplaceAll(l.Name, "_", " ") + " " + value
}
