// Package commands lists the commands of toolhost. `toolhost serve` is the server. Most other
// commands are its clients.
//
// The packages below it implement the commands. The list is not in server/cmd/toolhost, because a
// release also generates manual pages and completions from it.
package commands

import (
	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/access"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/auditlog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/author"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/install"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/maintain"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/mcp"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/prove"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/workspace"
)

// NewRoot returns the root command with all commands. It reads nothing from p until a command runs.
func NewRoot(p cli.Process) *cobra.Command {
	root := &cobra.Command{
		Use:   "toolhost",
		Short: "Run LLM tools as plugins, and call them",
		Long: "toolhost runs LLM tools that ship as plugins, each plugin in its own process, and serves them over gRPC.\n" +
			"`toolhost serve` runs the server; the other commands talk to one.\n\n" +
			"With -o json, durations are in milliseconds and their names end in _ms, sizes are in bytes and theirs in _bytes, times\n" +
			"are RFC 3339. A minor release may change these names, and what the help calls experimental.\n\n" +
			"Exit codes: 0 it worked, 1 a tool says that it failed, or a check or example of `verify` or `policy test` did, 2 wrong\n" +
			"usage, 3 the machinery failed, 4 no toolhost answers, 7 a configuration file is not trusted.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cli.AddGroup(root, "Call tools",
		operate.NewToolsCommand(p), operate.NewCallCommand(p), operate.NewCallsCommand(p), operate.NewWatchCommand(p), operate.NewCancelCommand(p), operate.NewArtifactCommand(p), operate.NewResourcesCommand(p), operate.NewPromptsCommand(p), mcp.NewCommand(p))
	cli.AddGroup(root, "Write plugins",
		author.NewNewCommand(p), author.NewDevCommand(p), author.NewVerifyCommand(p), install.NewInstallCommand(p), install.NewUninstallCommand(p))
	cli.AddGroup(root, "Operate plugins",
		operate.NewStatusCommand(p), serve.NewDoctorCommand(p), operate.NewPluginsCommand(p), operate.NewWhyCommand(p), operate.NewPsCommand(p), operate.NewLogsCommand(p), operate.NewEventsCommand(p), operate.NewStatsCommand(p),
		operate.NewApprovalsCommand(p), operate.NewRestartCommand(p), operate.NewDrainCommand(p), operate.NewPauseCommand(p), operate.NewResumeCommand(p), operate.NewClearCommand(p),
		operate.NewUpgradeCommand(p), operate.NewRollbackCommand(p), operate.NewRevisionsCommand(p), install.NewLockCommand(p),
		install.NewTrustCommand(p), operate.NewReloadCommand(p), auditlog.NewCommand(p), target.NewCommand(cli.Toolhost, p))
	cli.AddGroup(root, "Run and configure the server", serve.NewServeCommand(p), serve.NewConfigCommand(p, operate.NewConfigDiffCommand(p)), serve.NewPolicyCommand(p),
		access.NewTokenCommand(serve.Access(p), p), access.NewAuthCommand(serve.Access(p), p, operate.NewWhoAmICommand(p)),
		maintain.NewBackupCommand(p), maintain.NewRestoreCommand(p), maintain.NewMigrateCommand(p), maintain.NewNodesCommand(p), workspace.NewCommand(p), prove.NewCommand(p))
	root.AddCommand(serve.NewReaperCommand(), workspace.NewWorkerCommand(), prove.NewCounterCommand())
	target.CompleteFlags(root, cli.Toolhost, p)
	cli.MarkExperimental(root, "artifact", "audit tail", "auth whoami", "config show", "migrate", "policy", "target list", "target remove", "target show",
		"tools render", "tools search", "workspace")
	return root
}
