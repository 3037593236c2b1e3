package maintain

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	ledger "github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
)

// NewNodesCommand returns the command `nodes`.
func NewNodesCommand(p cli.Process) *cobra.Command {
	var where stateFlags
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "List the toolhosts that share a ledger, and say that one is gone",
		Long: "Nodes lists the toolhosts that use the ledger in the database of records in toolhost.yaml, one line for each start of\n" +
			"a toolhost. It asks the database, and no toolhost has to run. A node that is silent may be stopped, cut off or gone:\n" +
			"its calls stay under way until it continues, or a toolhost with its state folder starts, or `toolhost nodes gone`.\n" +
			"With -o json it prints an array of objects: id, name, state, start_time, gone_time, why and calls.",
		Example: "  toolhost nodes --config /etc/toolhost/toolhost.yaml",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			database, err := where.database(p)
			if err != nil {
				return err
			}
			nodes, err := ledger.Nodes(cmd.Context(), database)
			if err != nil {
				return err
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, nodes)
			}
			return writeNodes(p, nodes)
		},
	}
	where.add(cmd)
	format.AddFlag(cmd.Flags())
	cmd.AddCommand(newGoneCommand(p))
	return cmd
}

func writeNodes(p cli.Process, nodes []ledger.Listed) error {
	rows := [][]string{}
	for _, n := range nodes {
		rows = append(rows, []string{n.ID, cli.Dash(n.Name), n.State, n.Started.Local().Format(time.DateTime), fmt.Sprint(n.Calls), cli.Dash(n.Why)})
	}
	return cli.WriteTable(p.Stdout, p.Screen(), []string{"NODE", "MACHINE", "STATE", "STARTED", "CALLS", "WHY"}, rows)
}

func newGoneCommand(p cli.Process) *cobra.Command {
	var where stateFlags
	cmd := &cobra.Command{
		Use:   "gone NODE",
		Short: "Say that the processes of a node are gone",
		Long: "Gone records that a toolhost and all of its plugins have ended, such as after its machine was lost. Its calls that have\n" +
			"not ended become outcome_unknown for all callers, and their tools may say that they did not happen: so say it only of\n" +
			"processes that cannot continue. A node that continues nevertheless ends itself. A node that lives is refused.",
		Example: "  toolhost nodes gone 4f1c22ab90d3e871",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			database, err := where.database(p)
			if err != nil {
				return err
			}
			return declareGone(cmd.Context(), p, database, args[0])
		},
	}
	where.add(cmd)
	return cmd
}

func declareGone(ctx context.Context, p cli.Process, database postgres.Config, id string) error {
	who := "an operator said so"
	if u, err := user.Current(); err == nil {
		who = "the user " + u.Username + " said so"
	}
	node, err := ledger.DeclareGone(ctx, database, id, who)
	if err != nil {
		return err
	}
	if node.State == ledger.Gone {
		_, err = fmt.Fprintf(p.Out(), "%s (%s) was gone already: %s\n", node.ID, cli.OneLine(node.Name), cli.OneLine(node.Why))
		return err
	}
	_, err = fmt.Fprintf(p.Out(), "%s (%s) is gone: %s with an unknown outcome\n", node.ID, cli.OneLine(node.Name), cli.Count(node.Calls, "call"))
	return err
}

// database returns the database of the ledger.
func (s *stateFlags) database(p cli.Process) (postgres.Config, error) {
	files, err := s.flags.StateFiles(p.Getenv)
	if err != nil {
		return postgres.Config{}, err
	}
	if files.Records == "" {
		return postgres.Config{}, errors.New("this toolhost shares its ledger with no other: set records in toolhost.yaml to the URL of a PostgreSQL database")
	}
	return postgres.Config{URL: files.Records}, nil
}
