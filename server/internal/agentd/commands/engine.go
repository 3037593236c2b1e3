package commands

import (
	"context"
	"fmt"
	"iter"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// openEngine returns the engine of the configuration for runs in a store, and what closes it after
// the agent. The store shows other agentds which engine this one has.
func (s *setup) openEngine(store journal, log *slog.Logger) (engine agent.Engine, close func(), err error) {
	shared, ok := store.(*postgres.Store)
	if s.config.Engine != agentconfig.EngineTemporal {
		if ok {
			shared.SetEngine(s.config.Engine)
		}
		return agent.Local{}, func() {}, nil
	}
	if !ok {
		return nil, nil, cli.Usage("engine: temporal works on runs in a PostgreSQL database, and --journal or journal names a file")
	}
	shared.SetEngine(engineUnreached)
	log = log.With("address", s.config.Temporal.Address, "namespace", s.config.Temporal.Namespace)
	e, err := s.openTemporal(func(err error) {
		if err != nil {
			log.Warn("Temporal is not reached; this agentd works on all runs that are due without it", "error", err)
			shared.SetEngine(engineUnreached)
		} else {
			log.Info("Temporal is reached, and has agentds work on runs", "task_queue", s.config.Temporal.TaskQueue)
			shared.SetEngine(agentconfig.EngineTemporal)
		}
	}, log)
	if err != nil {
		return nil, nil, err
	}
	return e, e.close, nil
}

// engineUnreached is what `agentd nodes` shows of an agentd that does not reach Temporal.
const engineUnreached = "temporal (not reached)"

func newEngineCommand(p cli.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "engine",
		Short: "Operate the engine that has agentds work on runs",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newEngineRebuildCommand(p))
	return cmd
}

func newEngineRebuildCommand(p cli.Process) *cobra.Command {
	s := &setup{process: p}
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the workflows of all unfinished runs again",
		Long: "Rebuild makes a workflow at Temporal for each unfinished run in the database of the journal that has none, and has the\n" +
			"workflows that exist look at their runs. Those of runs that have ended end. Use it when the database of Temporal was lost\n" +
			"or restored, and after a change from `engine: local`. It changes no run, can be repeated, and needs no agentd; others may\n" +
			"work meanwhile.",
		Example: "  agentd engine rebuild --config /etc/toolhost/agentd.yaml",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.load(cmd.Context()); err != nil {
				return err
			}
			return s.rebuildEngine(cmd.Context())
		},
	}
	s.addJournalFlags(cmd.Flags())
	return cmd
}

// rebuildEngine makes the workflows of the unfinished runs.
func (s *setup) rebuildEngine(ctx context.Context) (err error) {
	if s.config.Engine != agentconfig.EngineTemporal {
		return cli.Usage("engine: local keeps nothing that could be made again; with engine: temporal in agentd.yaml, this command makes workflows")
	}
	url, err := s.place().database()
	if err != nil {
		return err
	}
	if url == "" {
		return cli.Usage("engine: temporal works on runs in a PostgreSQL database, and --journal or journal names a file")
	}
	e, err := s.openTemporal(nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer e.close()
	store, err := postgres.Open(ctx, database.Config{URL: url, Application: program})
	if err != nil {
		return err
	}
	defer func() { err = closeAll(err, store.Close) }()
	told, others, err := e.rebuild(ctx, unfinishedRuns(ctx, store))
	if err == nil || told+others > 0 {
		fmt.Fprintf(s.process.Out(), "%s of unfinished runs, and %s of other runs, are told to look\n", cli.Count(told, "workflow"), cli.Count(others, "workflow"))
	}
	return err
}

// unfinishedRuns yields the ids of the unfinished runs that are no sub-runs of such.
func unfinishedRuns(ctx context.Context, store runstore.Store) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		query := runstore.Query{UnfinishedOnly: true}
		for {
			page, err := store.List(ctx, query)
			if err != nil {
				yield("", err)
				return
			}
			for i := range page {
				if page[i].Head.Parent == "" && !yield(page[i].ID, nil) {
					return
				}
			}
			if len(page) < query.PageSize() {
				return
			}
			query.Before = page[len(page)-1].ID
		}
	}
}
