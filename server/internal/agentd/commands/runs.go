package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newRunsCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var format cli.Format
	var query client.RunFilter
	var states []string
	var limit int
	var following bool
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List runs, the newest first",
		Long: "Runs lists the runs in the journal, the newest first. A run is running, waiting for a person, finished, or interrupted:\n" +
			"then no process works on it, and `agentd resume` continues it. With --target or --addr, or with a target in use, it lists\n" +
			"those runs of a server that you may see. CALLS says how many calls had an unknown outcome that their tools settled.\n" +
			"With -o json it prints one object per line. With -f it goes on until it is interrupted, which is no failure: a terminal\n" +
			"shows the list again each second; elsewhere it prints each run that is new or has changed.",
		Example: "  agentd runs --state waiting\n  agentd runs -f\n  agentd runs --limit 0 -o json\n  agentd runs --target prod --tenant red",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range states {
				switch state := client.RunState(name); state {
				case client.RunRunning, client.RunWaiting, client.RunInterrupted, client.RunFinished:
					query.States = append(query.States, state)
				default:
					return cli.Usage("--state: there is no state %q; use running, waiting, interrupted or finished", name)
				}
			}
			if limit < 0 {
				return cli.Usage("--limit: %d is below zero; 0 is all", limit)
			}
			reach, served, err := s.open()
			if err != nil {
				return err
			}
			if following {
				return reach(cmd.Context(), func(a *client.AgentClient) error {
					return followRuns(cmd.Context(), a, p, query, limit, format.JSON())
				})
			}
			var runs []client.Run
			collect := func(a *client.AgentClient) (err error) {
				runs, err = listRuns(cmd.Context(), a, query, limit)
				return err
			}
			if err := reach(cmd.Context(), collect); err != nil {
				return err
			}
			remote, _ := s.setup.place().database() // whose runs only servers go on with
			return printRuns(p, runs, format.JSON(), served || remote != "")
		},
	}
	s.setup.addJournalFlags(cmd.Flags())
	s.addServerFlags(cmd.Flags())
	cmd.Flags().StringArrayVar(&query.Tenants, "tenant", nil, "only runs of this `TENANT`; may be given more than once")
	cmd.Flags().StringSliceVar(&states, "state", nil, "only runs in this `STATE`: running, waiting, interrupted or finished; several with commas")
	cmd.Flags().StringVar(&query.ParentRunID, "parent", "", "only the sub-runs of this `RUN`")
	cmd.Flags().IntVar(&limit, "limit", 50, "at most `N` runs; 0 is all")
	cmd.Flags().BoolVarP(&following, "follow", "f", false, "go on with the runs as they change")
	format.AddFlag(cmd.Flags())
	return cmd
}

// betweenLists is the pause of runs -f.
const betweenLists = time.Second

// followRuns shows the runs of a filter until ctx ends.
func followRuns(ctx context.Context, a *client.AgentClient, p cli.Process, filter client.RunFilter, limit int, asJSON bool) error {
	changes := terminal.NewChanges(ctx, p, asJSON, runsHeader())
	list := func(ctx context.Context) ([]client.Run, error) { return listRuns(ctx, a, filter, limit) }
	for runs, err := range terminal.Every(ctx, betweenLists, list) {
		rows := []terminal.Row{}
		for i := range runs {
			r := &runs[i]
			rows = append(rows, terminal.Row{Key: r.ID, Cells: runCells(r), Value: viewRun(r), Mark: fmt.Sprint(stateOf(r), r.Turns, r.Calls, r.Cost, r.Settlements)})
		}
		if err == nil {
			err = changes.Show(rows)
		}
		if err != nil && ctx.Err() == nil {
			return errors.Join(err, changes.End())
		}
	}
	return changes.End()
}

// read calls use with a client that reads the runs of the journal.
func (s *server) read(ctx context.Context, use func(*client.AgentClient) error) (err error) {
	if err := s.setup.load(ctx); err != nil {
		return err
	}
	h, err := s.setup.openHistory(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	return use(h.AgentClient)
}

// listRuns returns at most limit runs. 0 means all.
func listRuns(ctx context.Context, a *client.AgentClient, filter client.RunFilter, limit int) (runs []client.Run, err error) {
	for run, err := range a.ListRuns(ctx, filter) {
		if err != nil {
			return nil, err
		}
		if runs = append(runs, run); len(runs) == limit {
			break
		}
	}
	return runs, nil
}

// runView is a run as -o json prints it.
type runView struct {
	RunID       string            `json:"run_id"`
	State       client.RunState   `json:"state"`
	StopReason  client.StopReason `json:"stop_reason,omitempty"`
	Prompt      string            `json:"prompt"`
	Model       string            `json:"model"`
	StartTime   time.Time         `json:"start_time"`
	UpdateTime  time.Time         `json:"update_time"`
	Turns       int               `json:"turns"`
	Calls       int               `json:"calls"`
	Usage       tool.Usage        `json:"usage"`
	Cost        float64           `json:"cost,omitempty"`
	ParentRunID string            `json:"parent_run_id,omitempty"`
	Interrupted bool              `json:"interrupted,omitempty"`
	Parked      string            `json:"parked,omitempty"`
	Settled     settledView       `json:"settled,omitzero"`
}

// settledView are the calls of a run whose tools were asked about their outcome.
type settledView struct {
	Happened int `json:"happened,omitempty"`
	Repeated int `json:"repeated,omitempty"`
	Unknown  int `json:"unknown,omitempty"`
}

func viewRun(r *client.Run) runView {
	return runView{
		RunID: r.ID, State: r.State, StopReason: r.StopReason, Prompt: r.Prompt, Model: r.Model, StartTime: r.Started.UTC(),
		UpdateTime: r.Updated.UTC(), Turns: r.Turns, Calls: r.Calls, Usage: r.Usage, Cost: r.Cost, Interrupted: r.Interrupted,
		ParentRunID: r.ParentRunID, Parked: r.Parked, Settled: settledView(r.Settlements),
	}
}

func runsHeader() []string { return strings.Fields("RUN STATE UPDATED TURNS CALLS COST PROMPT") }

// runCells returns a run as a row of a table.
func runCells(r *client.Run) []string {
	return []string{r.ID, stateOf(r), cli.Age(time.Since(r.Updated)) + " ago", number(r.Turns), callsOf(r), money(r.Cost), cli.Clip(r.Prompt, promptWidth)}
}

func printRuns(p cli.Process, runs []client.Run, asJSON, served bool) error {
	var rows [][]string
	for i := range runs {
		r := &runs[i]
		if asJSON {
			if err := cli.WriteJSON(p.Stdout, viewRun(r)); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, runCells(r))
	}
	if asJSON {
		return nil
	}
	resumable := func(r client.Run) bool { // a server resumes its runs
		return r.Interrupted && r.Parked == "" && r.ParentRunID == "" && !served
	}
	if err := cli.WriteTable(p.Stdout, p.Screen(), runsHeader(), rows); err != nil {
		return err
	}
	for i := range runs {
		if r := &runs[i]; r.Parked != "" {
			fmt.Fprintf(p.Err(), "agentd: run %s is parked: %s\n", r.ID, cli.OneLine(r.Parked))
		}
	}
	queued := func(r client.Run) bool { // which servers may share, so that it is at none of them
		return r.Interrupted && r.Parked == "" && r.ParentRunID == "" && !r.Foreground && served
	}
	if i := slices.IndexFunc(runs, queued); i >= 0 {
		fmt.Fprintf(p.Err(), "agentd: no agentd works on %s; it goes on by itself when one has a free place\n", runs[i].ID)
	}
	if i := slices.IndexFunc(runs, resumable); i >= 0 {
		fmt.Fprintf(p.Err(), "agentd: no process works on %s; continue it: agentd resume %s\n", runs[i].ID, runs[i].ID)
	}
	return nil
}

// callsOf returns the number of calls of a run, and of those whose outcome was lost and settled.
func callsOf(r *client.Run) string {
	if settled := r.Settlements.Happened + r.Settlements.Repeated; settled > 0 {
		return fmt.Sprintf("%d (%d settled)", r.Calls, settled)
	}
	return number(r.Calls)
}

// promptWidth is the number of characters of a prompt in a table.
const promptWidth = 50

// stateOf returns the state of a run, or the stop reason if it has ended.
func stateOf(r *client.Run) string {
	switch {
	case r.State == "":
		return "unreadable"
	case r.State == client.RunFinished:
		return string(r.StopReason)
	case r.Parked != "":
		return "parked"
	}
	return string(r.State)
}
