package commands

import (
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// Exit codes of runs, in addition to those of package cli.
const (
	exitEnded = cli.ExitToolError // the run ended without the requested result
	exitLimit = 5                 // the run ended at one of its limits
	// the run waits for a person, and the command stopped following it
	exitWaiting = 6
)

// exitCodesHelp describes the exit codes, for commands that follow a run to its end.
const exitCodesHelp = "The exit code is 0 if the run ended well, 5 if it ended at a limit (max_turns, max_calls, token_budget, cost_budget,\n" +
	"wall_time, output_size), 1 if it ended otherwise, 6 if it was left waiting for a person, 2 for wrong usage, 3 if something\n" +
	"around it failed, 4 if no toolhost answers, and 7 if a configuration file is not trusted (see `toolhost trust --help`)."

// exitCode returns the exit code of a run that ended.
func exitCode(r client.StopReason) int {
	switch loop.StopReason(r) {
	case loop.StopEndTurn, loop.StopCompleted, loop.StopReturnDirect:
		return cli.ExitOK
	case loop.StopMaxTurns, loop.StopMaxCalls, loop.StopTokenBudget, loop.StopCostBudget, loop.StopWallTime, loop.StopOutputSize:
		return exitLimit
	}
	return exitEnded
}

// verdict returns the error for the end of a run, with its exit code.
func verdict(end *client.RunEnded) error {
	if end == nil {
		return errors.New("the run's events ended before the run")
	}
	code := exitCode(end.StopReason)
	if code == cli.ExitOK {
		return nil
	}
	return &cli.ExitError{Code: code, Err: errors.New(ending(end))}
}

// ending returns how a run ended.
func ending(end *client.RunEnded) string {
	if end.Message == "" {
		return fmt.Sprintf("the run ended: %s", end.StopReason)
	}
	return fmt.Sprintf("the run ended: %s: %s", end.StopReason, end.Message)
}
