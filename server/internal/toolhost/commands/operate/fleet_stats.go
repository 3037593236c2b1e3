package operate

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/fleet"
	"github.com/toolhost/toolhost/tool"
)

// statsOfFleetView is the statistics of a fleet, as -o json prints them.
type statsOfFleetView struct {
	Nodes []fleet.Status `json:"nodes"`
	Total []sumView      `json:"total"`
	Stats []statsOfNode  `json:"stats"`
}

// statsOfNode is the statistics of a tool on one node, as -o json prints them.
type statsOfNode struct {
	Node string `json:"node"`
	statsView
}

// sumView is the statistics of a tool on all nodes, as -o json prints them. It has no median and no
// 99th percentile, because they do not follow from those of the nodes.
type sumView struct {
	tool.Stats
	TotalDurationMS float64 `json:"total_duration_ms"`
	MeanDurationMS  float64 `json:"mean_duration_ms"`
}

func (c *Connection) statsOfFleet(ctx context.Context, query tool.StatsQuery, asJSON bool) error {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	query.Own = true // each answers for itself
	answers := fleet.Ask(ctx, nodes.Nodes, c.nodeWait, func(ctx context.Context, c *client.Client) ([]statsView, error) {
		stats, err := c.Admin().Stats(ctx, query)
		views := make([]statsView, 0, len(stats))
		for _, s := range stats {
			views = append(views, viewStats(s))
		}
		return views, err
	})
	all := []statsOfNode{}
	for _, a := range answers {
		for _, s := range a.Value {
			all = append(all, statsOfNode{a.Node.Name, s})
		}
	}
	sums := sumStats(all)
	if asJSON {
		view := statsOfFleetView{fleet.Statuses(answers), []sumView{}, all}
		for _, s := range sums {
			view.Total = append(view.Total, sumView{s, milliseconds(s.TotalDuration), milliseconds(s.MeanDuration)})
		}
		if err := cli.WriteJSON(c.Process.Stdout, view); err != nil {
			return err
		}
		return fleet.Err(answers)
	}
	var rows [][]string
	for _, sum := range sums {
		rows = append(rows, append([]string{sum.Tool, sum.Plugin, "all"}, statsCells(sum)...))
		for _, s := range all {
			if s.Tool == sum.Tool && s.Plugin == sum.Plugin {
				rows = append(rows, append([]string{"", "", s.Node}, statsCells(s.Stats)...))
			}
		}
	}
	return writeFleet(c.Process, append([]string{"TOOL", "PLUGIN", "NODE"}, statsHeader...), rows, answers)
}

// sumStats returns the sums of the statistics of each tool, ordered by tool and plugin.
func sumStats(all []statsOfNode) []tool.Stats {
	type key struct{ tool, plugin string }
	byTool, ran := map[key]*tool.Stats{}, map[key]float64{}
	for _, s := range all {
		k := key{s.Tool, s.Plugin}
		sum := byTool[k]
		if sum == nil {
			sum = &tool.Stats{Tool: s.Tool, Plugin: s.Plugin, Failures: map[tool.Kind]uint64{}}
			byTool[k] = sum
		}
		sum.Calls, sum.Succeeded, sum.ToolErrors = add(sum.Calls, s.Calls), add(sum.Succeeded, s.Succeeded), add(sum.ToolErrors, s.ToolErrors)
		sum.NeedsApproval = add(sum.NeedsApproval, s.NeedsApproval)
		for kind, n := range s.Failures {
			sum.Failures[kind] = add(sum.Failures[kind], n)
		}
		sum.TotalCost = min(sum.TotalCost+s.TotalCost, math.MaxFloat64)
		sum.TotalDuration = time.Duration(min(add(uint64(max(sum.TotalDuration, 0)), uint64(max(s.TotalDuration, 0))), math.MaxInt64))
		if s.MeanDuration > 0 {
			ran[k] += float64(s.TotalDuration) / float64(s.MeanDuration)
		}
	}
	var sums []tool.Stats
	for k, sum := range byTool {
		if ran[k] > 0 {
			sum.MeanDuration = time.Duration(float64(sum.TotalDuration) / ran[k])
		}
		sums = append(sums, *sum)
	}
	slices.SortFunc(sums, func(a, b tool.Stats) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Plugin, b.Plugin))
	})
	return sums
}

// add adds two counts. It does not wrap around, because a node chooses its counts.
func add(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
