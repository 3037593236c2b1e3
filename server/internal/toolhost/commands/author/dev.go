package author

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/devloop"
	"github.com/toolhost/toolhost/tool"
)

// devFlags holds the flags of `dev`.
type devFlags struct {
	config, workspace, build, call, listen string
	wait                                   bool
}

// NewDevCommand returns the command `dev`.
func NewDevCommand(p cli.Process) *cobra.Command {
	var flags devFlags
	cmd := &cobra.Command{
		Use:   "dev DIR",
		Short: "Build a plugin, run it, and do both again whenever it changes",
		Long: "Dev builds the plugin whose repository is DIR, runs it in a separate toolhost, and shows calls, statuses and logs as\n" +
			"they happen. Whenever a file of the repository changes, it builds again and lets the new plugin take over, without a\n" +
			"failed call; what does not build or start is shown, and what ran before stays. Ctrl-C ends all of it and leaves\n" +
			"nothing behind.\n" +
			"The plugin runs in the same sandbox as in `toolhost serve`, with the grants of toolhost.yaml. It is built by\n" +
			"`go build` if there is a go.mod, else by `make build`, or by what --build says.\n\n" +
			"To debug it, use --wait: calls have no deadline, a process is never stopped for being idle, and Go is built without\n" +
			"optimisations. The first call, such as that of --call, starts the process. Attach the debugger to the process id\n" +
			"that is shown then, for Go by `dlv attach PID`, set a breakpoint, and call the tool again.",
		Example: "  toolhost dev .\n" + `  toolhost dev weather --call 'forecast {"city":"Oslo"}'` + "\n  toolhost dev . --wait --call 'forecast {}'",
		Args:    cli.Arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			call, err := flags.wanted()
			if err != nil {
				return err
			}
			return serve.WithSubreapers(cmd.Context(), p, func() error { return dev(cmd.Context(), p, flags, call, args[0]) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.config, "config", "", "configuration `FILE` (default: toolhost.yaml here, or in XDG_CONFIG_HOME/toolhost)")
	f.StringVar(&flags.workspace, "workspace", "", "folder `DIR` in which tools may work (default: the current folder)")
	f.StringVar(&flags.listen, "listen", "", "`ADDRESS` to listen at, for callers that are to find each run of dev: unix:///PATH or 127.0.0.1:PORT (default: a new one)")
	f.StringVar(&flags.build, "build", "", "the `COMMAND` that builds the plugin, run by a shell in its folder")
	f.StringVar(&flags.call, "call", "", "call a tool after each build: its name and its arguments, as in 'forecast {\"city\":\"Oslo\"}' (`CALL`)")
	f.BoolVar(&flags.wait, "wait", false, "let calls take as long as they want, so that a debugger can stop them")
	return cmd
}

// wanted returns the call to make after each build, or nil for none.
func (f *devFlags) wanted() (*tool.Call, error) {
	if f.call == "" {
		return nil, nil
	}
	name, arguments, _ := strings.Cut(strings.TrimSpace(f.call), " ")
	if err := tool.CheckName(name); err != nil {
		return nil, cli.Usage("--call: %w", err)
	}
	if arguments = strings.TrimSpace(arguments); arguments != "" && !json.Valid([]byte(arguments)) {
		return nil, cli.Usage("--call: the arguments %s are not JSON; write --call '%s {\"name\":\"value\"}'", arguments, name)
	}
	return &tool.Call{Tool: name, Arguments: json.RawMessage(arguments)}, nil
}

// project returns the repository to build, and the folder for what is built.
func (f *devFlags) project(dir, output string) (*devloop.Project, error) {
	c := devloop.Config{Dir: dir, Output: output, Debug: f.wait}
	if f.build != "" {
		c.Command = []string{"/bin/sh", "-c", f.build}
	}
	project, err := devloop.Open(c)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	return project, nil
}
