package commands

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/access"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
)

const program = "agentd"

// Main runs agentd as a program: it uses the arguments, streams and signals of the process, and
// exits. The first SIGINT or SIGTERM cancels the command. The second one kills the process.
func Main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with the process
		received := <-signals
		// the first signal cancels the command, the second one kills the process
		signal.Stop(signals)
		cancel(&signalled{received})
	}()
	os.Exit(run(ctx, cli.Process{
		Args: os.Args[1:], Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}

// run runs the command of the arguments, and returns the exit code.
func run(ctx context.Context, p cli.Process) int {
	return cli.Run(ctx, NewRoot(p), p)
}

// NewRoot returns the root command with all commands. It reads nothing from p until a command runs.
func NewRoot(p cli.Process) *cobra.Command {
	root := &cobra.Command{
		Use:   program,
		Short: "Run LLM agents that call tools through toolhost",
		Long: "agentd lets a model work on a task: it asks the model, calls the tools that it wants through toolhost, and goes on\n" +
			"until the task is done. Everything that happens is kept in a journal.\n\n" +
			"A minor release may change what the help calls experimental, and the keys of -o json.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cli.AddGroup(root, "Work on tasks", newRunCommand(p), newChatCommand(p), newResumeCommand(p), newAgentsCommand(p))
	cli.AddGroup(root, "Look at runs, and steer those of a server",
		newRunsCommand(p), newInboxCommand(p), newConsoleCommand(p), newShowCommand(p), newRespondCommand(p), newSendCommand(p), newCancelCommand(p), newDeleteCommand(p), target.NewCommand(program, p))
	cli.AddGroup(root, "Run and configure the server", newServeCommand(p), newStatusCommand(p), newReloadCommand(p), newConfigCommand(p), newNotifyCommand(p),
		access.NewTokenCommand(accessOf(p), p), access.NewAuthCommand(accessOf(p), p, newWhoAmICommand(p)),
		newNodesCommand(p), newEngineCommand(p), newMigrateCommand(p), newBackupCommand(p), newRestoreCommand(p))
	target.CompleteFlags(root, program, p)
	cli.MarkExperimental(root, "auth", "config", "console", "engine", "nodes", "notify", "reload", "status", "target", "token list", "token revoke")
	return root
}
