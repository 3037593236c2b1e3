package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// adminCommand is a command that changes the state of one plugin, and then shows that state.
type adminCommand struct {
	use, short, long string
	// do sends the request.
	do func(ctx context.Context, a *client.Admin, plugin string) error
	// reasoned says that the command has the flag --reason.
	reasoned bool
	// done is the message after success. %s is the plugin.
	done string
	// means is the state in which the command puts the plugin. Empty means that the command changes
	// no state.
	means tool.PluginState
}

// adminView is the state of a plugin after the command, as -o json prints it.
type adminView struct {
	Plugin string           `json:"plugin"`
	State  tool.PluginState `json:"state"`
	Reason string           `json:"reason,omitempty"`
}

func newAdminCommand(p cli.Process, o adminCommand) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var why reason
	cmd := &cobra.Command{
		Use:               o.use + " PLUGIN",
		Short:             o.short,
		Long:              o.long + "\nWith -o json it prints an object: plugin, and the state that it is in now, with the reason.",
		Example:           "  toolhost " + o.use + " calculator",
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.Change(func(c *client.Client) error {
				if err := o.do(cmd.Context(), why.admin(c), args[0]); err != nil {
					return err
				}
				info, err := findPlugin(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, adminView{Plugin: info.Name, State: info.State, Reason: info.Reason})
				}
				_, err = fmt.Fprintf(p.Out(), o.done+"%s\n", info.Name, o.rest(info))
				return err
			})
		},
	}
	if o.reasoned {
		why.addFlag(cmd.Flags(), "`toolhost why` and the audit log")
	}
	conn.AddFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// rest says why a plugin still takes no calls, and which command makes it take calls. It returns ""
// for a plugin that takes calls.
func (o *adminCommand) rest(info tool.PluginInfo) string {
	if info.State == tool.PluginEnabled {
		return ""
	}
	s := ""
	if info.State != o.means {
		s = fmt.Sprintf("; it is %s: %s", stateWords(info.State), info.Reason)
	}
	for _, r := range remedies(info, nil) {
		if r.Command != "" {
			return s + fmt.Sprintf("; `%s` %s", r.Command, r.Effect)
		}
	}
	return s
}

// findPlugin returns one plugin, which may be unusable. Errors: not_found.
func findPlugin(ctx context.Context, c *client.Client, name string) (tool.PluginInfo, error) {
	plugins, err := c.Admin().Plugins(ctx)
	if err != nil {
		return tool.PluginInfo{}, err
	}
	i := slices.IndexFunc(plugins, func(p tool.PluginInfo) bool { return p.Name == name })
	if i < 0 {
		return tool.PluginInfo{}, UnknownPlugin(plugins, name)
	}
	return plugins[i], nil
}

// UnknownPlugin returns the error for a name that no plugin has. It lists the plugins. Errors:
// not_found.
func UnknownPlugin(plugins []tool.PluginInfo, name string) error {
	const most = 20
	hint := "there are none"
	if len(plugins) > 0 {
		var names []string
		for _, p := range plugins[:min(len(plugins), most)] {
			names = append(names, p.Name)
		}
		hint = "there are: " + strings.Join(names, ", ")
	}
	return tool.Errorf(tool.KindNotFound, "there is no plugin %q; %s", name, hint)
}

// NewPauseCommand returns the command `pause`.
func NewPauseCommand(p cli.Process) *cobra.Command {
	return newAdminCommand(p, adminCommand{
		use:   "pause",
		short: "Let a plugin take no calls until it is resumed",
		long: "Pause lets a plugin take no new calls: those that wait are refused, and so are new ones; those under way end. Its\n" +
			"processes stay; drain stops them.",
		do:       func(ctx context.Context, a *client.Admin, plugin string) error { return a.Pause(ctx, plugin) },
		done:     "paused %s",
		reasoned: true,
		means:    tool.PluginPaused,
	})
}

// NewResumeCommand returns the command `resume`.
func NewResumeCommand(p cli.Process) *cobra.Command {
	return newAdminCommand(p, adminCommand{
		use:   "resume",
		short: "Let a paused plugin take calls again",
		long:  "Resume ends a pause.",
		do:    func(ctx context.Context, a *client.Admin, plugin string) error { return a.Resume(ctx, plugin) },
		done:  "resumed %s",
	})
}

// NewDrainCommand returns the command `drain`.
func NewDrainCommand(p cli.Process) *cobra.Command {
	return newAdminCommand(p, adminCommand{
		use:   "drain",
		short: "Let a plugin's processes end their calls, and stop them",
		long: "Drain lets the processes of a plugin end the calls that they have, stops them, and returns when they are gone. New\n" +
			"calls start new processes, unless the plugin is paused: to take a plugin out of use, pause it first. Calls that take\n" +
			"longer than the drain time end with an error.",
		do:       func(ctx context.Context, a *client.Admin, plugin string) error { return a.Drain(ctx, plugin) },
		done:     "drained %s: its processes are gone",
		reasoned: true,
	})
}

// NewClearCommand returns the command `clear`.
func NewClearCommand(p cli.Process) *cobra.Command {
	return newAdminCommand(p, adminCommand{
		use:   "clear",
		short: "Let a plugin that crashed too often take calls again",
		long: "Clear ends the quarantine of a plugin that crashed too often, or the wait before its next start, and forgets the\n" +
			"crashes that led to it. The next call starts it.",
		do: func(ctx context.Context, a *client.Admin, plugin string) error {
			return a.ClearQuarantine(ctx, plugin)
		},
		done: "cleared %s",
	})
}
