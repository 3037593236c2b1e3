// Command toolhost runs tool plugins and calls them. Package server/internal/toolhost/commands
// lists its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/toolhost/toolhost/internal/processors"
	workspaces "github.com/toolhost/toolhost/sdk/workspace/commands"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands"
)

func main() {
	workspaces.Supervise() // a command of `workspace serve`
	processors.Share()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// the first signal cancels the command, the second one kills the process
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, cli.Process{
		Args: os.Args[1:], Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}

// run runs the command of the arguments, and returns the exit code.
func run(ctx context.Context, p cli.Process) int {
	return cli.Run(ctx, commands.NewRoot(p), p)
}
