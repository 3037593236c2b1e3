package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/tool"
)

// order is a command that has something done with one plugin and then shows where the plugin stands.
type order struct {
	use, short, long string
	// do gives the order.
	do func(ctx context.Context, c *client.Client, plugin string) error
	// done says that it was obeyed, and what that means; %s is the plugin.
	done string
	// means is the state that the order brings about. Empty if it only acts.
	means tool.PluginState
}

// orderView is a plugin after an order, as -o json prints it.
type orderView struct {
	Plugin string           `json:"plugin"`
	State  tool.PluginState `json:"state"`
	Reason string           `json:"reason,omitempty"`
}

func newOrderCommand(p cli.Process, o order) *cobra.Command {
	conn := connection{process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:               o.use + " PLUGIN",
		Short:             o.short,
		Long:              o.long + "\nWith -o json it prints an object: plugin, and the state that it is in now, with the reason.",
		Example:           "  toolhost " + o.use + " calculator",
		Args:              cli.Arguments(1, 1),
		ValidArgsFunction: conn.completePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.with(func(c *client.Client) error {
				if err := o.do(cmd.Context(), c, args[0]); err != nil {
					return err
				}
				info, err := findPlugin(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				if format.JSON() {
					return cli.WriteJSON(p.Stdout, orderView{Plugin: info.Name, State: info.State, Reason: info.Reason})
				}
				_, err = fmt.Fprintf(p.Out(), o.done+"%s\n", info.Name, o.rest(info))
				return err
			})
		},
	}
	conn.addFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

// rest says what else keeps a plugin from taking calls, and what mends that; "" for one that takes them.
func (o *order) rest(info tool.PluginInfo) string {
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

// findPlugin returns one plugin, also one that cannot be used. Errors: not_found.
func findPlugin(ctx context.Context, c *client.Client, name string) (tool.PluginInfo, error) {
	plugins, err := c.Admin().Plugins(ctx)
	if err != nil {
		return tool.PluginInfo{}, err
	}
	i := slices.IndexFunc(plugins, func(p tool.PluginInfo) bool { return p.Name == name })
	if i < 0 {
		return tool.PluginInfo{}, unknownPlugin(plugins, name)
	}
	return plugins[i], nil
}

func unknownPlugin(plugins []tool.PluginInfo, name string) error {
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
