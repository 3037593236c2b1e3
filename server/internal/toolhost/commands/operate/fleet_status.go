package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	ledger "github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
)

// statusOfFleetView is where the toolhosts of a ledger differ, as -o json prints it.
type statusOfFleetView struct {
	Alike       bool                `json:"alike"`
	Nodes       []ledger.Listed     `json:"nodes"`
	Differences []ledger.Difference `json:"differences"`
}

// statusOfFleet compares the toolhosts that share a ledger, by what each has written into the
// database.
func statusOfFleet(ctx context.Context, p cli.Process, flags serve.Flags, asJSON bool) error {
	files, err := flags.StateFiles(p.Getenv)
	if err != nil {
		return err
	}
	if files.Records == "" {
		return errors.New("--fleet: this toolhost shares its ledger with no other: records in toolhost.yaml is not the URL of a database")
	}
	nodes, err := ledger.Nodes(ctx, postgres.Config{URL: files.Records})
	if err != nil {
		return err
	}
	nodes = slices.DeleteFunc(nodes, func(l ledger.Listed) bool { return l.State == ledger.Gone })
	view := statusOfFleetView{Nodes: nodes, Differences: ledger.Differences(nodes)}
	view.Alike = len(view.Differences) == 0
	if asJSON {
		err = cli.WriteJSON(p.Stdout, view)
	} else {
		err = view.write(p)
	}
	if err == nil && !view.Alike {
		err = &cli.ExitError{Code: cli.ExitToolError}
	}
	return err
}

func (v *statusOfFleetView) write(p cli.Process) error {
	if v.Alike {
		_, err := fmt.Fprintf(p.Out(), "no difference: %s\n", cli.Count(len(v.Nodes), "toolhost"))
		return err
	}
	names := map[string]string{}
	for _, n := range v.Nodes {
		names[n.ID] = n.Label()
	}
	rows := [][]string{}
	for _, d := range v.Differences {
		what := d.What
		for _, value := range d.Values {
			var nodes []string
			for _, id := range value.Nodes {
				nodes = append(nodes, names[id])
			}
			rows = append(rows, []string{what, cli.Dash(value.Value), strings.Join(nodes, ", ")})
			what = ""
		}
	}
	fmt.Fprintf(p.Out(), "%s: %s\n", cli.Count(len(v.Nodes), "toolhost"), cli.Count(len(v.Differences), "difference"))
	return cli.WriteTable(p.Stdout, p.Screen(), []string{"WHAT", "HAS", "TOOLHOSTS"}, rows)
}
