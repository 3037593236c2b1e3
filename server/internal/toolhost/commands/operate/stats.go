package operate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewStatsCommand returns the command `stats`.
func NewStatsCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var query tool.StatsQuery
	var since cli.Since
	cmd := &cobra.Command{
		Use:   "stats [PLUGIN]",
		Short: "Count calls: how many, how they ended, how long they took",
		Long: "Stats counts the calls of each tool, or of the tools of one plugin, that have ended since toolhost started: those\n" +
			"with a result, those that the tool itself says failed, those that were not executed because a person has to approve\n" +
			"them, and those that the infrastructure failed, by kind. MEAN, P50 and P99 are of those that ran.\n" +
			"With --since it counts from the hour that contains this time, also calls before the last start of toolhost.\n" +
			"With -o json it prints an array of objects; durations are in milliseconds, with fractions.\n" + fleetHelp("stats") + "\n" +
			"For each tool it also shows the sum of all toolhosts, in the rows `all` and as the array total. A median and a P99 of\n" +
			"several toolhosts are not known.",
		Example:           "  toolhost stats calculator\n  toolhost stats --since 24h\n  toolhost stats --fleet --target prod",
		Args:              cli.Arguments(0, 1),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			query.Plugin, query.Since = strings.Join(args, ""), since.Time()
			if conn.fleet {
				return conn.statsOfFleet(cmd.Context(), query, format.JSON())
			}
			return conn.With(func(c *client.Client) error {
				return showStats(cmd.Context(), c, p, query, format.JSON())
			})
		},
	}
	tenantFlag(cmd.Flags(), &query.Tenants, "calls")
	since.AddFlag(cmd.Flags(), "count from this `TIME`: 24h or 7d ago, or 2026-01-31")
	conn.AddFlag(cmd.Flags())
	conn.addFleetFlags(cmd.Flags(), "ask", nodeTimeout)
	format.AddFlag(cmd.Flags())
	return cmd
}

// statsView is the statistics of a tool, as -o json prints them.
type statsView struct {
	tool.Stats
	TotalDurationMS float64 `json:"total_duration_ms"`
	MeanDurationMS  float64 `json:"mean_duration_ms"`
	P50DurationMS   float64 `json:"p50_duration_ms"`
	P99DurationMS   float64 `json:"p99_duration_ms"`
}

func showStats(ctx context.Context, c *client.Client, p cli.Process, query tool.StatsQuery, asJSON bool) error {
	stats, err := c.Admin().Stats(ctx, query)
	if err != nil {
		return err
	}
	views, rows := []statsView{}, [][]string{}
	for _, s := range stats {
		views = append(views, viewStats(s))
		rows = append(rows, append([]string{s.Tool, s.Plugin}, statsCells(s)...))
	}
	if asJSON {
		return cli.WriteJSON(p.Stdout, views)
	}
	return cli.WriteTable(p.Stdout, p.Screen(), append([]string{"TOOL", "PLUGIN"}, statsHeader...), rows)
}

func viewStats(s tool.Stats) statsView {
	return statsView{
		Stats: s, TotalDurationMS: milliseconds(s.TotalDuration), MeanDurationMS: milliseconds(s.MeanDuration),
		P50DurationMS: milliseconds(s.P50), P99DurationMS: milliseconds(s.P99),
	}
}

var statsHeader = []string{"CALLS", "RESULTS", "TOOL ERRORS", "NEED APPROVAL", "FAILURES", "MEAN", "P50", "P99", "COST"}

func statsCells(s tool.Stats) []string {
	return []string{
		number(s.Calls), number(s.Succeeded), number(s.ToolErrors), number(s.NeedsApproval), failures(s.Failures),
		short(s.MeanDuration), short(s.P50), short(s.P99), strconv.FormatFloat(s.TotalCost, 'g', 6, 64),
	}
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// failures returns the number of infrastructure errors by kind, the most frequent first.
func failures(byKind map[tool.Kind]uint64) string {
	kinds := slices.SortedFunc(maps.Keys(byKind), func(a, b tool.Kind) int {
		if byKind[a] != byKind[b] && byKind[a] > byKind[b] {
			return -1
		} else if byKind[a] != byKind[b] {
			return 1
		}
		return strings.Compare(string(a), string(b))
	})
	var all []string
	for _, kind := range kinds {
		all = append(all, fmt.Sprintf("%s %d", kind, byKind[kind]))
	}
	return cli.Dash(strings.Join(all, ", "))
}

// milliseconds returns a duration in milliseconds, rounded to the microsecond.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond).Microseconds()) / 1000
}

// short returns a duration with about three digits, or "-" for 0.
func short(d time.Duration) string {
	step := time.Duration(1)
	for rest := d; rest >= 1000; rest /= 10 {
		step *= 10
	}
	if d == 0 {
		return "-"
	}
	return d.Round(step).String()
}
