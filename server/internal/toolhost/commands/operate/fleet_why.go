package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/fleet"
	"github.com/toolhost/toolhost/tool"
)

// callsOfWhy bounds the calls with one id that `why` asks a toolhost for. Each principal and
// session can have one.
const callsOfWhy = 100

// found is what a toolhost knows about a name: a plugin, or else calls with this id.
type found struct {
	Plugin *whyView   `json:"plugin,omitempty"`
	Calls  []callView `json:"calls,omitempty"`

	explained *explanation
	records   []tool.CallRecord
}

// look asks a toolhost for a plugin, and for calls if it has no plugin of this name. Errors:
// not_found.
func look(ctx context.Context, c *client.Client, name string) (found, error) {
	w, err := gather(ctx, c, name, time.Now())
	if err == nil {
		view := w.view()
		return found{Plugin: &view, explained: w}, nil
	}
	if tool.KindOf(err) != tool.KindNotFound || tool.CheckID(name) != nil {
		return found{}, err
	}
	page, failure := c.Admin().Calls(ctx, tool.CallQuery{CallID: name, PageSize: callsOfWhy})
	if failure != nil {
		return found{}, failure
	}
	if len(page.Calls) == 0 {
		return found{}, err
	}
	f := found{records: page.Calls}
	for _, r := range page.Calls {
		f.Calls = append(f.Calls, callView{CallRecord: r, Error: viewError(r.Err)})
	}
	return f, nil
}

// whyOfFleetView is what a fleet knows about a name, as -o json prints it.
type whyOfFleetView struct {
	Nodes   []fleet.Status `json:"nodes"`
	Plugins []whyOfNode    `json:"plugins"`
	Calls   []callOfNode   `json:"calls"`
}

// whyOfNode is what a node knows about a plugin, as -o json prints it.
type whyOfNode struct {
	Node string `json:"node"`
	whyView
}

// callOfNode is a call on a node, as -o json prints it.
type callOfNode struct {
	Node string `json:"node"`
	callView
}

func (c *Connection) whyOfFleet(ctx context.Context, name string, asJSON bool) error {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	answers := fleet.Ask(ctx, nodes.Nodes, c.nodeWait, func(ctx context.Context, c *client.Client) (found, error) { return look(ctx, c, name) })
	failure := whyError(name, answers)
	if asJSON {
		view := whyOfFleetView{fleet.Statuses(answers), []whyOfNode{}, []callOfNode{}}
		for _, a := range answers {
			if a.Value.Plugin != nil {
				view.Plugins = append(view.Plugins, whyOfNode{a.Node.Name, *a.Value.Plugin})
			}
			for _, call := range a.Value.Calls {
				view.Calls = append(view.Calls, callOfNode{a.Node.Name, call})
			}
		}
		if err := cli.WriteJSON(c.Process.Stdout, view); err != nil {
			return err
		}
		return failure
	}
	var rows [][]string
	blocks := 0
	for _, a := range answers {
		if a.Value.explained != nil {
			if err := writeOfNode(c.Process, a.Node.Name, a.Value.explained, blocks > 0); err != nil {
				return err
			}
			blocks++
		}
		rows = append(rows, labeled(a.Node.Name, callRows(a.Value.records))...)
	}
	if len(rows) > 0 {
		if blocks > 0 {
			fmt.Fprintln(c.Process.Out())
		}
		if err := cli.WriteTable(c.Process.Stdout, c.Process.Screen(), append([]string{"NODE"}, callHeader...), rows); err != nil {
			return err
		}
	}
	if err := fleet.WriteProblems(c.Process, fleet.Statuses(answers), len(rows)+blocks == 0); err != nil {
		return err
	}
	return failure
}

// writeOfNode writes the explanation of a plugin on one node.
func writeOfNode(p cli.Process, node string, w *explanation, further bool) error {
	head := fmt.Sprintf("on %s: ", cli.OneLine(node))
	if further {
		head = "\n" + head
	}
	if _, err := fmt.Fprint(p.Out(), head); err != nil {
		return err
	}
	return w.write(p)
}

// whyError returns the error of `why --fleet`. If no node knows the name, it says which nodes
// cannot be asked, because one of them may know it.
func whyError(name string, answers []fleet.Answer[found]) error {
	var silent []string
	unknown := 0
	for _, a := range answers {
		switch a.State {
		case fleet.Answered:
			return fleet.Err(answers)
		case fleet.NotFound:
			unknown++
		default:
			silent = append(silent, a.Node.Name)
		}
	}
	if unknown == 0 {
		return fleet.Err(answers)
	}
	text := fmt.Sprintf("%q is unknown on %s: they have neither a plugin nor a call of this name", name, cli.Count(unknown, "toolhost"))
	if unknown == 1 {
		text = fmt.Sprintf("%q is unknown on 1 toolhost: it has neither a plugin nor a call of this name", name)
	}
	if len(silent) > 0 {
		text += "; no answer from " + strings.Join(silent, ", ")
	}
	return &cli.ExitError{Code: cli.ExitInfrastructure, Err: errors.New(text)}
}
