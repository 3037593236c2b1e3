package commands

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// nodeView is an agentd as `agentd nodes -o json` prints it.
type nodeView struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"`
	Version   string    `json:"version,omitempty"`
	Address   string    `json:"address,omitempty"`
	State     string    `json:"state"`
	SinceTime time.Time `json:"since_time"`
	Renewed   float64   `json:"renewed_seconds_ago"`
	Runs      int       `json:"runs"`
	Engine    string    `json:"engine,omitempty"`
}

func newNodesCommand(p cli.Process) *cobra.Command {
	s := &setup{process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "nodes",
		Short: "List the agentds that share a database",
		Long: "Nodes lists the agentds that work on the runs of a database, one line for each start of an agentd. It asks the database of\n" +
			"the journal, and no agentd has to run. RENEWED says when the agentd last showed that it lives. One that is silent is\n" +
			"stopped, cut off or gone: others take its runs once PostgreSQL has ended its connection. RUNS are those at work there.\n" +
			"ENGINE says what has the agentd work on runs, and whether it is reached. With -o json it prints an array of objects: id,\n" +
			"name, version, address (where other agentds reach it), state (live or silent), since_time, renewed_seconds_ago, runs and\n" +
			"engine.",
		Example: "  agentd nodes --journal postgres://agentd@db.example/agentd",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.load(cmd.Context()); err != nil {
				return err
			}
			url, err := s.place().database()
			if err != nil {
				return err
			}
			if url == "" {
				return cli.Usage("the runs are in a file, and one agentd works on them; --journal names the database of several")
			}
			nodes, err := nodesOf(cmd.Context(), url)
			if err != nil {
				return err
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, nodes)
			}
			rows := [][]string{}
			for _, n := range nodes {
				ago := time.Duration(n.Renewed * float64(time.Second))
				rows = append(rows, []string{n.ID, cli.Dash(n.Name), cli.Dash(n.Version), n.State, n.SinceTime.Local().Format(time.DateTime), cli.Age(ago) + " ago", strconv.Itoa(n.Runs), cli.Dash(n.Engine)})
			}
			return cli.WriteTable(p.Stdout, p.Screen(), []string{"NODE", "MACHINE", "VERSION", "STATE", "SINCE", "RENEWED", "RUNS", "ENGINE"}, rows)
		},
	}
	s.addJournalFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// maxNodeText bounds the texts of an agentd, which whoever writes to the database chooses, in
// characters.
const maxNodeText = 255

// nodesOf returns the agentds of a database.
func nodesOf(ctx context.Context, url string) (views []nodeView, err error) {
	store, err := postgres.Open(ctx, database.Config{URL: url, Application: program})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	nodes, err := store.Nodes(ctx)
	views = make([]nodeView, len(nodes))
	for i, n := range nodes {
		state := "live"
		if n.Silent {
			state = "silent"
		}
		views[i] = nodeView{
			ID: n.ID, Name: cli.Clip(n.Name, maxNodeText), Version: cli.Clip(n.Version, maxNodeText), Address: cli.Clip(n.Address, maxNodeText), State: state,
			SinceTime: n.Since.UTC(), Renewed: n.Silence.Seconds(), Runs: n.Runs, Engine: cli.Clip(n.Engine, maxNodeText),
		}
	}
	return views, err
}
