package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/cli"
)

// exitEnded is the exit code of a run that ended, but not with what it was asked for.
const exitEnded = cli.ExitToolError

func newRunCommand(p cli.Process) *cobra.Command {
	s := &setup{process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   `run "PROMPT"`,
		Short: "Let a model work on a task, and show what happens",
		Long: "Run lets a model work on one task with the tools of a toolhost, and shows what it writes and calls. Where no toolhost\n" +
			"answers at the default address, it starts the one beside agentd, with the plugins beside it and the current folder as\n" +
			"workspace, and stops it in the end. Ctrl-C cancels the run; a second one leaves at once.\n\n" +
			"The exit code is 0 if the run ended well, 1 if it ended otherwise, 2 for wrong usage, 3 if something around it\n" +
			"failed, and 4 if no toolhost answers.",
		Example: "  agentd run \"What is 13! and what is its square root?\"\n" +
			"  agentd run --model scripted:demo.yaml -o json \"Read notes.txt\"",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || strings.TrimSpace(args[0]) == "" {
				return cli.Usage("say what is to be done in one argument, in quotes: agentd run \"PROMPT\"")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), args[0], &format) },
	}
	s.addFlags(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// run works on one task. Its end becomes the exit code.
func (s *setup) run(ctx context.Context, prompt string, format *cli.Format) (err error) {
	m, err := s.openModel()
	if err != nil {
		return err
	}
	log := s.logger(slog.LevelWarn)
	store, err := s.openJournal(ctx)
	if err != nil {
		return err
	}
	defer func() { err = closeAll(err, store.Close) }()
	host, err := s.connect(ctx, true, log)
	if err != nil {
		return err
	}
	defer func() { err = closeAll(err, host.Close) }()
	a, err := agent.New(agent.Config{Store: store, Model: m, Tools: remoteTools{host.Client}, Log: log})
	if err != nil {
		return err
	}
	defer a.Close()

	var show display = newTextDisplay(s.process)
	if format.JSON() {
		show = &jsonDisplay{out: s.process.Stdout}
	}
	id, err := a.StartRun(ctx, agent.Task{Prompt: prompt, Foreground: true})
	if err != nil {
		return err
	}
	// The run is cancelled, not the watch: what the cancelled calls say in the end is shown, and kept.
	follow := context.WithoutCancel(ctx)
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(interrupted)
		if err := a.CancelRun(follow, id, "interrupted"); err != nil {
			log.Error("cancelling the run", "error", err)
		}
	})
	defer func() {
		if !stop() {
			<-interrupted
		}
	}()
	end, err := watch(a.WatchRun(follow, id, 0), show)
	if err != nil {
		return err
	}
	return verdict(end)
}

// verdict returns how a run's end is told.
func verdict(end *agent.RunFinished) error {
	switch {
	case end == nil:
		return errors.New("the run's events ended before the run")
	case end.StopReason.Well():
		return nil
	case end.Message == "":
		return &cli.ExitError{Code: exitEnded, Err: fmt.Errorf("the run ended: %s", end.StopReason)}
	}
	return &cli.ExitError{Code: exitEnded, Err: fmt.Errorf("the run ended: %s: %s", end.StopReason, end.Message)}
}
