package operate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/fleet"
	"github.com/toolhost/toolhost/tool"
)

// fleetHelp describes --fleet in the help of a command. field is the name of the array in the JSON.
func fleetHelp(field string) string {
	return fmt.Sprintf("\nWith --fleet it asks every toolhost of a fleet at the same time and labels each row with its node. A toolhost that does\n"+
		"not answer within --node-timeout delays no other one: a table at the end names it and says why, and the exit code is\n"+
		"then 3, or 4 if none answers. With -o json it prints an object: nodes, each with node, address, state and reason,\n"+
		"and %s, each with its node.", field)
}

// instancesView is the instances of a fleet, as -o json prints them.
type instancesView struct {
	Nodes     []fleet.Status   `json:"nodes"`
	Instances []instanceOfNode `json:"instances"`
}

// instanceOfNode is an instance of a fleet, as -o json prints it.
type instanceOfNode struct {
	Node string `json:"node"`
	instanceView
}

func (c *Connection) psOfFleet(ctx context.Context, ask func(context.Context, *client.Client) ([]instanceView, error), wide, asJSON bool) error {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	answers := fleet.Ask(ctx, nodes.Nodes, c.nodeWait, ask)
	if asJSON {
		view := instancesView{fleet.Statuses(answers), []instanceOfNode{}}
		for _, a := range answers {
			for _, i := range a.Value {
				view.Instances = append(view.Instances, instanceOfNode{a.Node.Name, i})
			}
		}
		if err := cli.WriteJSON(c.Process.Stdout, view); err != nil {
			return err
		}
		return fleet.Err(answers)
	}
	var rows [][]string
	for _, a := range answers {
		rows = append(rows, labeled(a.Node.Name, instanceRows(a.Value, wide))...)
	}
	return writeFleet(c.Process, append([]string{"NODE"}, instanceHeader(wide)...), rows, answers)
}

// pluginsView is the plugins of a fleet, as -o json prints them.
type pluginsView struct {
	Nodes   []fleet.Status `json:"nodes"`
	Plugins []pluginOfNode `json:"plugins"`
}

// pluginOfNode is a plugin of a fleet, as -o json prints it.
type pluginOfNode struct {
	Node string `json:"node"`
	tool.PluginInfo
}

func askPlugins(ctx context.Context, c *client.Client) ([]tool.PluginInfo, error) {
	return c.Admin().Plugins(ctx)
}

func (c *Connection) pluginsOfFleet(ctx context.Context, wide, asJSON bool) error {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	answers := fleet.Ask(ctx, nodes.Nodes, c.nodeWait, askPlugins)
	if asJSON {
		view := pluginsView{fleet.Statuses(answers), []pluginOfNode{}}
		for _, a := range answers {
			for _, plugin := range a.Value {
				view.Plugins = append(view.Plugins, pluginOfNode{a.Node.Name, printablePlugin(plugin)})
			}
		}
		if err := cli.WriteJSON(c.Process.Stdout, view); err != nil {
			return err
		}
		return fleet.Err(answers)
	}
	type ofNode struct {
		node    string
		plugins []tool.PluginInfo // one
	}
	var all []ofNode
	var every []tool.PluginInfo
	for _, a := range answers {
		for i := range a.Value {
			all = append(all, ofNode{a.Node.Name, a.Value[i : i+1]})
		}
		every = append(every, a.Value...)
	}
	// The rows of one plugin are together, so that a reader sees whether its nodes differ.
	slices.SortStableFunc(all, func(a, b ofNode) int { return cmp.Compare(a.plugins[0].Name, b.plugins[0].Name) })
	var rows [][]string
	now, filters := time.Now(), hasFilters(every)
	for _, o := range all {
		rows = append(rows, labeled(o.node, pluginRows(o.plugins, now, wide, filters))...)
	}
	return writeFleet(c.Process, append([]string{"NODE"}, pluginHeader(filters, wide)...), rows, answers)
}

// labeled returns rows with a first cell.
func labeled(node string, rows [][]string) [][]string {
	for i, row := range rows {
		rows[i] = append([]string{node}, row...)
	}
	return rows
}

// writeFleet writes a table of what the nodes answered and a table of those that did not answer.
// The error says that some did not.
func writeFleet[T any](p cli.Process, header []string, rows [][]string, answers []fleet.Answer[T]) error {
	if len(rows) > 0 || fleet.Err(answers) == nil {
		if err := cli.WriteTable(p.Stdout, p.Screen(), header, rows); err != nil {
			return err
		}
	}
	if err := fleet.WriteProblems(p, fleet.Statuses(answers), len(rows) == 0); err != nil {
		return err
	}
	return fleet.Err(answers)
}
