package operate

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// eventsOfWhy is the number of events that `why` shows. They fit a screen together with the rest.
const eventsOfWhy = 10

// NewWhyCommand returns the command `why`.
func NewWhyCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "why PLUGIN|CALL-ID",
		Short: "Explain the state of a plugin: what happened, and what to do",
		Long: "Why tells what an operator needs to know about one plugin: its state and the reason, when it is tried again, how\n" +
			"its last processes ended and what they said last, warnings, its last events, and what to do.\n" +
			"For a name that no plugin has, it shows the calls with this id, as `toolhost calls` does: how they ended, and why.\n" +
			"With -o json it prints an object: plugin (as in `toolhost plugins`), instances (as in `toolhost ps`), events (as in\n" +
			"`toolhost events`) and remedies, each with a command, unless there is nothing to type, and its effect; for a call an\n" +
			"object with calls.\n\n" +
			"With --fleet it asks every toolhost of a fleet at the same time, and shows what each knows, with its node. So it finds\n" +
			"the toolhost that has a call. If none knows the name, it says how many do not, and which did not answer within\n" +
			"--node-timeout. The exit code is 3 if a toolhost did not answer. With -o json it prints an object: nodes, each with\n" +
			"node, address, state and reason, plugins and calls, each with its node.",
		Example:           "  toolhost why calculator\n  toolhost why run-1.turn-2.0 --fleet --target prod",
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			if conn.fleet {
				return conn.whyOfFleet(cmd.Context(), args[0], format.JSON())
			}
			return conn.With(func(c *client.Client) error {
				known, err := look(cmd.Context(), c, args[0])
				switch {
				case err != nil:
					return err
				case format.JSON() && known.Plugin != nil:
					return cli.WriteJSON(p.Stdout, known.Plugin)
				case format.JSON():
					return cli.WriteJSON(p.Stdout, known)
				case known.explained != nil:
					return known.explained.write(p)
				}
				return writeCalls(p.Stdout, p.Screen(), known.records)
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	conn.addFleetFlags(cmd.Flags(), "ask", nodeTimeout)
	format.AddFlag(cmd.Flags())
	return cmd
}

// explanation is the state of a plugin at one time, with the data that explains it.
type explanation struct {
	now       time.Time
	plugin    tool.PluginInfo
	instances []tool.InstanceInfo
	events    []tool.PluginEvent
	lines     []tool.LogLine // log lines of the plugin; read only after a crash
}

// whyView is an explanation as -o json prints it.
type whyView struct {
	Plugin    tool.PluginInfo    `json:"plugin"`
	Instances []instanceView     `json:"instances"`
	Events    []tool.PluginEvent `json:"events"`
	Remedies  []remedy           `json:"remedies"`
}

func (w *explanation) view() whyView {
	return whyView{
		Plugin: printablePlugin(w.plugin), Instances: viewInstances(w.instances, w.now),
		Events: append([]tool.PluginEvent{}, w.events...), Remedies: remedies(w.plugin, w.instances),
	}
}

func gather(ctx context.Context, c *client.Client, name string, now time.Time) (*explanation, error) {
	plugin, err := findPlugin(ctx, c, name)
	if err != nil {
		return nil, err
	}
	w := &explanation{now: now, plugin: plugin}
	instances, err := c.Admin().Instances(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, i := range instances {
		if i.Plugin == name {
			w.instances = append(w.instances, i)
		}
	}
	err = printAll(c.Admin().WatchEvents(ctx, tool.EventQuery{Plugin: name}), func(e tool.PluginEvent) error {
		w.events = append(w.events, e)
		return nil
	})
	w.events = w.events[max(0, len(w.events)-eventsOfWhy):]
	if err != nil || crash(plugin) == nil {
		return w, err
	}
	return w, printAll(c.Admin().TailLogs(ctx, tool.LogQuery{Plugin: name}), func(l tool.LogLine) error {
		w.lines = append(w.lines, l)
		return nil
	})
}
