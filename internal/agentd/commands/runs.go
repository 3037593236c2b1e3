package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/agentd/agent"
	"github.com/toolhost/toolhost/internal/agentd/agentserver"
	"github.com/toolhost/toolhost/internal/agentd/loop"
	"github.com/toolhost/toolhost/internal/terminal/cli"
	"github.com/toolhost/toolhost/internal/wire/agentclient"
	"github.com/toolhost/toolhost/tool"
)

func newRunsCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var format cli.Format
	var query agent.RunQuery
	var states []string
	var limit int
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List runs, the newest first",
		Long: "Runs lists the runs in the journal, the newest first. A run is running, waiting for a person, finished, or interrupted:\n" +
			"then no process works on it, and `agentd resume` continues it. With --target or --addr it lists those runs of a server\n" +
			"that you may see. CALLS says how many calls had an unknown outcome that their tools settled; a server does not say it.\n" +
			"With -o json it prints one object per line.",
		Example: "  agentd runs --state waiting\n  agentd runs --limit 0 -o json\n  agentd runs --target prod --tenant red",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			for _, name := range states {
				switch state := agent.RunState(name); state {
				case agent.RunRunning, agent.RunWaiting, agent.RunInterrupted, agent.RunEnded:
					query.States = append(query.States, state)
				default:
					return cli.Usage("--state: there is no state %q; use running, waiting, interrupted or finished", name)
				}
			}
			if limit < 0 {
				return cli.Usage("--limit: %d is below zero; 0 is all", limit)
			}
			var runs []agent.Run
			if s.choice.Addr != "" || s.choice.Target != "" {
				if s.setup.journal != "" {
					return cli.Usage("--journal is a file, and --addr and --target are servers; use one of them")
				}
				runs, err = s.listRemote(cmd.Context(), query, limit)
			} else {
				runs, err = s.listLocal(cmd.Context(), query, limit)
			}
			if err != nil {
				return err
			}
			return printRuns(p, runs, format.JSON())
		},
	}
	s.setup.addJournalFlags(cmd.Flags())
	s.choice.Program = program
	s.choice.AddFlags(cmd.Flags())
	cmd.Flags().StringArrayVar(&query.Tenants, "tenant", nil, "only runs of this `TENANT`; may be given more than once")
	cmd.Flags().StringSliceVar(&states, "state", nil, "only runs in this `STATE`: running, waiting, interrupted or finished; several with commas")
	cmd.Flags().StringVar(&query.Parent, "parent", "", "only the sub-runs of this `RUN`")
	cmd.Flags().IntVar(&limit, "limit", 50, "at most `N` runs; 0 is all")
	format.AddFlag(cmd.Flags())
	return cmd
}

// listLocal returns at most limit runs of the journal. 0 means all.
func (s *server) listLocal(ctx context.Context, query agent.RunQuery, limit int) (runs []agent.Run, err error) {
	if err := s.setup.load(ctx); err != nil {
		return nil, err
	}
	h, err := s.setup.openHistory(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	return h.list(ctx, query, limit)
}

// listRemote returns at most limit runs of a server. 0 means all.
func (s *server) listRemote(ctx context.Context, query agent.RunQuery, limit int) (runs []agent.Run, err error) {
	err = s.with(ctx, func(c *agentclient.Client) error {
		for m, err := range c.ListRuns(ctx, agentserver.FromQuery(query)) {
			if err != nil {
				return err
			}
			if runs = append(runs, agentserver.ToRun(m)); limit > 0 && len(runs) == limit {
				return nil
			}
		}
		return nil
	})
	return runs, err
}

// list returns at most limit runs of a query. 0 means all.
func (h *history) list(ctx context.Context, query agent.RunQuery, limit int) ([]agent.Run, error) {
	var runs []agent.Run
	for {
		page, next, err := h.Agent.ListRuns(ctx, query)
		if err != nil {
			return nil, err
		}
		runs = append(runs, page...)
		if limit > 0 && len(runs) >= limit {
			return runs[:limit], nil
		}
		if next == "" {
			return runs, nil
		}
		query.Token = next
	}
}

// runView is a run as -o json prints it.
type runView struct {
	RunID       string           `json:"run_id"`
	State       agent.RunState   `json:"state"`
	StopReason  loop.StopReason  `json:"stop_reason,omitempty"`
	Prompt      string           `json:"prompt"`
	Model       string           `json:"model"`
	StartTime   time.Time        `json:"start_time"`
	UpdateTime  time.Time        `json:"update_time"`
	Turns       int              `json:"turns"`
	Calls       int              `json:"calls"`
	Usage       tool.Usage       `json:"usage"`
	Cost        float64          `json:"cost,omitempty"`
	ParentRunID string           `json:"parent_run_id,omitempty"`
	Interrupted bool             `json:"interrupted,omitempty"`
	Settled     loop.Settlements `json:"settled,omitzero"`
}

func printRuns(p cli.Process, runs []agent.Run, asJSON bool) error {
	var rows [][]string
	for i := range runs {
		r := &runs[i]
		if asJSON {
			v := runView{
				RunID: r.ID, State: r.State(), StopReason: r.StopReason, Prompt: r.Prompt, Model: r.Model, StartTime: r.StartTime.UTC(),
				UpdateTime: r.UpdateTime.UTC(), Turns: r.Turns, Calls: r.Calls, Usage: r.Usage, Cost: r.Cost, Interrupted: r.Interrupted,
				Settled: r.Settled,
			}
			if r.Parent != nil {
				v.ParentRunID = r.Parent.RunID
			}
			if err := cli.WriteJSON(p.Stdout, v); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{
			r.ID, stateOf(r), cli.Age(time.Since(r.UpdateTime)) + " ago", number(r.Turns), callsOf(r), money(r.Cost), cli.Clip(r.Prompt, promptWidth),
		})
	}
	if asJSON {
		return nil
	}
	if err := cli.WriteTable(p.Stdout, p.Screen(), strings.Fields("RUN STATE UPDATED TURNS CALLS COST PROMPT"), rows); err != nil {
		return err
	}
	if i := slices.IndexFunc(runs, func(r agent.Run) bool { return r.Interrupted && r.Parent == nil }); i >= 0 {
		fmt.Fprintf(p.Err(), "agentd: no process works on %s; continue it: agentd resume %s\n", runs[i].ID, runs[i].ID)
	}
	return nil
}

// callsOf returns the number of calls of a run, and of those whose outcome was lost and settled.
func callsOf(r *agent.Run) string {
	if settled := r.Settled.Settled(); settled > 0 {
		return fmt.Sprintf("%d (%d settled)", r.Calls, settled)
	}
	return number(r.Calls)
}

// promptWidth is the number of characters of a prompt in a table.
const promptWidth = 50

// stateOf returns the state of a run, or the stop reason if it has ended.
func stateOf(r *agent.Run) string {
	switch {
	case r.Unreadable:
		return "unreadable"
	case r.Finished():
		return string(r.StopReason)
	}
	return string(r.State())
}
