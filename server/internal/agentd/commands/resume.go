package commands

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/store/filelock"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newResumeCommand(p cli.Process) *cobra.Command {
	f := &foreground{setup: setup{process: p, usesToolhost: true, startsToolhost: true}}
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was interrupted",
		Long: "Resume goes on with a run where it was, with the same call ids, and shows what happens from there on, as `agentd run`\n" +
			"does. Calls that went on in toolhost are joined again. A run that has ended stays as it is; `agentd show` tells its\n" +
			"story, and `agentd chat RUN` goes on with it. An `agentd serve` resumes its runs itself.\n\n" + exitCodesHelp,
		Example: "  agentd resume run-k3f6zq7xw2m4n5pa",
		Args:    oneRun("resume"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.setup.runID = args[0]
			if err := f.setup.checkOwn(cmd.Context()); err != nil {
				return err
			}
			return f.work(cmd.Context(), func(ctx context.Context, w *workbench) (begun, error) {
				return f.setup.goOn(ctx, w, args[0])
			})
		},
	}
	f.addFlags(cmd.Flags())
	f.setup.addResumeFlags(cmd.Flags())
	return cmd
}

// checkOwn refuses a run that the journal does not have while a server is chosen: the person means
// a run of that server, which resumes its runs itself.
func (s *setup) checkOwn(ctx context.Context) error {
	at, err := chosen(s.process)
	if err != nil || at == (serverChoice{}) || s.journal != "" {
		return err
	}
	own := &server{setup: *s}
	err = own.read(ctx, func(a *client.AgentClient) error {
		_, err := a.GetRun(ctx, s.runID)
		return err
	})
	if tool.KindOf(err) != tool.KindNotFound {
		return err
	}
	return fmt.Errorf("%w; resume is for runs of this user's journal, and an agentd serve resumes its own: %s", err, s.command("show", s.runID, at))
}

// oneRun returns a check that a command has one argument, and that it is not empty.
func oneRun(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return cli.Usage("name one run: agentd %s RUN; `agentd runs` lists them", command)
		}
		return nil
	}
}

// goOn resumes a run.
func (s *setup) goOn(ctx context.Context, w *workbench, runID string) (begun, error) {
	r, err := w.GetRun(ctx, runID)
	if err != nil {
		return begun{}, err
	}
	if r.State == client.RunFinished {
		return begun{id: runID, after: r.LastSeq - 1}, nil // the display shows the end
	}
	if !w.remote && !r.Foreground && s.place().served() {
		return begun{}, tool.Errorf(tool.KindConflict, "`agentd serve` works on run %s; use `agentd show` and `agentd respond`, or stop it first", runID)
	}
	if w.resume != nil {
		err = w.resume(ctx, runID)
	}
	return begun{id: runID, after: r.LastSeq, pending: r.Pending}, err
}

// served reports whether an `agentd serve` works on the runs of the journal.
func (j journalPlace) served() bool {
	path, err := j.journalPath()
	if err != nil {
		return false
	}
	file, err := os.Open(path + lockSuffix)
	if err != nil {
		return false
	}
	defer file.Close()
	// the kernel releases the lock when the file is closed
	return filelock.TryShared(file) != nil
}
