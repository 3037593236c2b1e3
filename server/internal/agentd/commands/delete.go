package commands

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newDeleteCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	cmd := &cobra.Command{
		Use:   "delete RUN",
		Short: "Delete a finished run with its sub-runs",
		Long: "Delete removes a finished run and its sub-runs from the journal: their events, their attachments, and what agentd keeps\n" +
			"to continue them. No run can have their ids again. A run that has not finished, or that is a part of such a run, is\n" +
			"not deleted. With --target or --addr, or with a target in use, it deletes a run of a server: your own, or any with the\n" +
			"right runs.delete.",
		Example: "  agentd delete run-k3f6zq7xw2m4n5pa\n  agentd delete --target prod run-k3f6zq7xw2m4n5pa",
		Args:    oneRun("delete"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var ids []string
			named, err := s.named()
			if err != nil {
				return err
			}
			if named {
				err = s.change(cmd.Context(), func(a *client.AgentClient) (err error) {
					ids, err = a.DeleteRun(cmd.Context(), args[0])
					return err
				})
			} else {
				ids, err = s.deleteLocal(cmd.Context(), args[0])
			}
			if err != nil {
				return err
			}
			below := ""
			switch n := len(ids) - 1; {
			case n == 1:
				below = " and its sub-run"
			case n > 1:
				below = fmt.Sprintf(" and its %d sub-runs", n)
			}
			_, err = fmt.Fprintf(p.Out(), "deleted %s%s\n", args[0], below)
			return err
		},
	}
	s.setup.addJournalFlags(cmd.Flags())
	s.addServerFlags(cmd.Flags())
	return cmd
}

// deleteLocal deletes a run of the journal, and returns the ids of the deleted runs.
func (s *server) deleteLocal(ctx context.Context, runID string) (ids []string, err error) {
	if err := s.setup.load(ctx); err != nil {
		return nil, err
	}
	h, err := s.setup.openHistory(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if _, err := h.GetRun(ctx, runID); err != nil {
		return nil, err
	}
	log, err := s.setup.openAudit()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := noteDeletion(ctx, log, runID, "agentd delete", "the user of the journal deletes it"); err != nil {
		return nil, err
	}
	return h.DeleteRun(ctx, runID)
}

// noteDeletion writes to the audit log that agentd deletes a run. After an error, it must not.
func noteDeletion(ctx context.Context, log *audit.Log, runID, act, reason string) error {
	err := log.Note(ctx, audit.Event{Kind: audit.OfAdministration, Principal: ownPrincipal(), Act: act, Target: runID, Outcome: audit.Allowed, Reason: reason})
	if err != nil {
		return fmt.Errorf("the run %s is not deleted, because the audit log cannot be written: %w", runID, err)
	}
	return nil
}

// cleanupPause is the time between two cleanups. What is kept is in days, so an hour more does not
// matter.
const cleanupPause = time.Hour

// startCleanup deletes the runs that the configuration does not keep, at once and then after each
// cleanupPause, until ctx ends or the caller calls stop, which waits for the end of a cleanup.
func startCleanup(ctx context.Context, a *agent.Agent, decisions *audit.Log, log *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // ends with ctx; stop waits for it
		defer close(ended)
		for again := true; again; again = cli.Wait(ctx, cleanupPause) {
			if err := cleanup(ctx, a, decisions); err != nil && ctx.Err() == nil {
				log.Error("runs that are not kept cannot be deleted; agentd tries again in an hour", "error", err)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// cleanup deletes the runs that the configuration does not keep. A run that goes on meanwhile
// stays.
func cleanup(ctx context.Context, a *agent.Agent, decisions *audit.Log) error {
	expired, err := a.Expired(ctx, time.Now())
	if err != nil {
		return err
	}
	for _, id := range expired {
		if err := noteDeletion(ctx, decisions, id, "cleanup", "runs.keep and runs.max_count do not keep it"); err != nil {
			return err
		}
		switch _, err := a.DeleteRun(ctx, id); tool.KindOf(err) {
		case tool.KindConflict, tool.KindNotFound:
		default:
			if err != nil {
				return err
			}
		}
	}
	return nil
}
