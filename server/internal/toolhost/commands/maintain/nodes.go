package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	ledger "github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
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
			"ADDRESS is where the other toolhosts reach it, see nodes in toolhost.yaml.\n" +
			"With -o json it prints an array of objects: id, name, folder, state, version, address, start_time, gone_time, why, calls,\n" +
			"and audit_head: the last line of its audit log, as `toolhost audit verify --expect` takes it.",
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
		rows = append(rows, []string{n.ID, cli.Dash(n.Name), n.State, cli.Dash(n.Version), cli.Dash(n.Address), n.Started.Local().Format(time.DateTime), fmt.Sprint(n.Calls), cli.Dash(n.Why)})
	}
	return cli.WriteTable(p.Stdout, p.Screen(), []string{"NODE", "MACHINE", "STATE", "VERSION", "ADDRESS", "STARTED", "CALLS", "WHY"}, rows)
}

func newGoneCommand(p cli.Process) *cobra.Command {
	var where stateFlags
	var mine bool
	cmd := &cobra.Command{
		Use:   "gone NODE… | --mine",
		Short: "Say that the processes of a node are gone",
		Long: "Gone records that a toolhost and all of its plugins have ended, such as after its machine was lost. Its calls that have\n" +
			"not ended become outcome_unknown for all callers, and their tools may say that they did not happen: so say it only of\n" +
			"processes that cannot continue. A node that continues nevertheless ends itself. A node that lives is refused.\n" +
			"--mine is about all earlier nodes of this state folder. It is for the start of a machine whose disk no other machine can\n" +
			"use, before `toolhost serve`.",
		Example: "  toolhost nodes gone 4f1c22ab90d3e871",
		Args:    cli.Arguments(0, 100),
		RunE: func(cmd *cobra.Command, args []string) error {
			if mine == (len(args) > 0) {
				return cli.Usage("name nodes, or give --mine")
			}
			database, err := where.database(p)
			if err != nil {
				return err
			}
			which := func(n ledger.Listed) bool { return slices.Contains(args, n.ID) }
			if mine {
				folder, err := where.folder(p)
				if err != nil {
					return err
				}
				which = func(n ledger.Listed) bool { return n.Folder == folder && n.State != ledger.Gone }
			}
			return declareGone(cmd.Context(), p, database, which, args)
		},
	}
	where.add(cmd)
	cmd.Flags().BoolVar(&mine, "mine", false, "all earlier nodes of this state folder")
	return cmd
}

func declareGone(ctx context.Context, p cli.Process, database postgres.Config, which func(ledger.Listed) bool, names []string) error {
	who := "an operator said so"
	if u, err := user.Current(); err == nil {
		who = "the user " + u.Username + " said so"
	}
	nodes, err := ledger.DeclareGone(ctx, database, who, which)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		text := fmt.Sprintf("is gone: %s with an unknown outcome", cli.Count(n.Calls, "call"))
		if n.State == ledger.Gone {
			text = "was gone already: " + cli.OneLine(n.Why)
		}
		if _, err := fmt.Fprintf(p.Out(), "%s (%s) %s\n", n.ID, cli.OneLine(n.Name), text); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(nodes, func(n ledger.Listed) bool { return n.ID == name }) {
			return fmt.Errorf("there is no node %s; `toolhost nodes` lists them", cli.OneLine(name))
		}
	}
	return nil
}

// folder returns the id of the state folder; empty: it has none yet.
func (s *stateFlags) folder(p cli.Process) (string, error) {
	files, err := s.flags.StateFiles(p.Getenv)
	if err != nil {
		return "", err
	}
	id, err := os.ReadFile(filepath.Join(files.State, serve.NodeFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return strings.TrimSpace(string(id)), nil
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
