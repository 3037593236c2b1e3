package operate

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

// eventsOfWhy is the number of events that `why` shows. They fit a screen together with the rest.
const eventsOfWhy = 10

// NewWhyCommand returns the command `why`.
func NewWhyCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "why PLUGIN",
		Short: "Explain the state of a plugin: what happened, and what to do",
		Long: "Why tells what an operator needs to know about one plugin: its state and the reason, when it is tried again, how\n" +
			"its last processes ended and what they said last, warnings, its last events, and what to do.\n" +
			"With -o json it prints an object: plugin (as in `toolhost plugins`), instances (as in `toolhost ps`), events (as in\n" +
			"`toolhost events`) and remedies, each with a command, unless there is nothing to type, and its effect.",
		Example:           "  toolhost why calculator",
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.With(func(c *client.Client) error {
				w, err := gather(cmd.Context(), c, args[0], time.Now())
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, w.view())
				}
				return w.write(p)
			})
		},
	}
	conn.AddFlag(cmd.Flags())
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
