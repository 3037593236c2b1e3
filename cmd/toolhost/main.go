// Command toolhost runs tool plugins and calls them.
//
// `toolhost serve` is the server. Most other commands are its clients. The packages under
// internal/cli hold the commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/cli/author"
	"github.com/toolhost/toolhost/internal/cli/install"
	"github.com/toolhost/toolhost/internal/cli/operate"
	"github.com/toolhost/toolhost/internal/cli/serve"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// the first signal cancels the command, the second one kills the process
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, cli.Process{
		Args: os.Args[1:], Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}))
}

// run runs the command of the arguments, and returns the exit code.
func run(ctx context.Context, p cli.Process) int {
	return cli.Run(ctx, newRoot(p), p)
}

func newRoot(p cli.Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "toolhost",
		Short: "Run LLM tools as plugins, and call them",
		Long: "toolhost runs LLM tools that ship as plugins, each plugin in its own process, and serves them over gRPC.\n" +
			"`toolhost serve` runs the server; the other commands talk to one.\n\n" +
			"With -o json, names and meanings stay the same from version to version, while fields may be added: durations are in\n" +
			"milliseconds and their names end in _ms, sizes are in bytes and theirs in _bytes, times are RFC 3339.\n\n" +
			"Exit codes: 0 it worked, 1 a tool says that it failed, or a check or example of `verify` or `policy test` did, 2 wrong\n" +
			"usage, 3 the machinery failed, 4 no toolhost answers, 7 a configuration file is not trusted.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cli.AddGroup(root, "Call tools",
		operate.NewToolsCommand(p), operate.NewCallCommand(p), operate.NewCallsCommand(p), operate.NewWatchCommand(p), operate.NewCancelCommand(p), operate.NewArtifactCommand(p))
	cli.AddGroup(root, "Write plugins",
		author.NewNewCommand(p), author.NewDevCommand(p), author.NewVerifyCommand(p), install.NewInstallCommand(p), install.NewUninstallCommand(p))
	cli.AddGroup(root, "Operate plugins",
		operate.NewPluginsCommand(p), operate.NewWhyCommand(p), operate.NewPsCommand(p), operate.NewLogsCommand(p), operate.NewEventsCommand(p), operate.NewStatsCommand(p),
		operate.NewRestartCommand(p), operate.NewDrainCommand(p), operate.NewPauseCommand(p), operate.NewResumeCommand(p), operate.NewClearCommand(p),
		operate.NewUpgradeCommand(p), operate.NewRollbackCommand(p), install.NewLockCommand(p),
		install.NewTrustCommand(p), operate.NewReloadCommand(p))
	cli.AddGroup(root, "Run and configure the server", serve.NewServeCommand(p), serve.NewConfigCommand(p), serve.NewPolicyCommand(p))
	root.AddCommand(serve.NewReaperCommand())
	return root
}
