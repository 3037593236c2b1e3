package operate

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewEventsCommand returns the command `events`.
func NewEventsCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var query tool.EventQuery
	var since cli.Since
	cmd := &cobra.Command{
		Use:   "events [PLUGIN]",
		Short: "Show what happened to plugins and their processes",
		Long: "Events shows what happened to a plugin and its processes, or without a name to all of them, the oldest first: the\n" +
			"number of the event, its time, the instance or plugin, what happened, with which executable, by the first digits of\n" +
			"its digest, and why. toolhost keeps the last 10,000 events, and those that matter also after a restart.\n" +
			"With -f it goes on with new events until it is interrupted, which is no failure; if the toolhost goes away it\n" +
			"says so and exits with code 4. Numbers begin at 1 when toolhost starts.\n" +
			"With -o json it prints one object a line: seq, time, type, plugin, and where they say something instance, digest,\n" +
			"reason and until.\n\n" +
			"With --fleet it asks every toolhost of a fleet and orders their events by time, as the clock of each has it. Each event\n" +
			"has its node, in JSON as the field node. With -f, a toolhost that goes away is named and the others go on. A toolhost\n" +
			"that does not answer has a last line, in JSON with node, address, state and reason, and the exit code is then 3.",
		Example:           "  toolhost events -f\n  toolhost events calculator --after 120\n  toolhost events -f --fleet --target prod",
		Args:              cli.Arguments(0, 1),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				query.Plugin = args[0]
			}
			query.Since = since.Time()
			if conn.fleet {
				return conn.eventsOfFleet(cmd.Context(), query, format.JSON())
			}
			return conn.With(func(c *client.Client) error {
				return showEvents(cmd.Context(), c, p, query, format.JSON())
			})
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&query.Follow, "follow", "f", false, "go on with new events as they happen")
	f.Uint64Var(&query.After, "after", 0, "only events after the one with this `SEQ`")
	tenantFlag(f, &query.Tenants, "events")
	since.AddFlag(f, "only events from this `TIME` on: 24h or 7d ago, or 2026-01-31")
	conn.AddFlag(f)
	conn.addFleetFlags(f, "ask", nodeTimeout)
	format.AddFlag(f)
	return cmd
}

func showEvents(ctx context.Context, c *client.Client, p cli.Process, q tool.EventQuery, asJSON bool) error {
	p.Stdout = cli.UntilDone(ctx, p.Stdout)
	shown := 0
	show := func(e tool.PluginEvent) error {
		shown++
		q.After = e.Seq
		if asJSON {
			return cli.WriteJSON(p.Stdout, e)
		}
		_, err := fmt.Fprintln(p.Out(), eventText(e))
		return err
	}
	// The kept events come first, so that an unknown plugin fails at once and not after a wait.
	kept := q
	kept.Follow = false
	if err := printAll(c.Admin().WatchEvents(ctx, kept), show); err != nil {
		return err
	}
	if shown == 0 && q.Plugin != "" {
		if _, err := findPlugin(ctx, c, q.Plugin); err != nil {
			return err
		}
	}
	if q.Follow {
		return follow(ctx, c.Admin().WatchEvents(ctx, q), show)
	}
	if shown == 0 && !asJSON {
		fmt.Fprintln(p.Err(), "no such events are kept")
	}
	return nil
}

// eventText returns an event as one line.
func eventText(e tool.PluginEvent) string {
	s := fmt.Sprintf("%5d  %s  %-20s  %-18s  %-12s", e.Seq, clock(e.Time), cmp.Or(e.Instance, e.Plugin),
		strings.ReplaceAll(e.Type, "_", " "), cli.Dash(cli.ShortDigest(e.Digest)))
	if e.Reason != "" {
		s += "  " + cli.ShortenDigests(e.Reason)
	}
	if !e.Until.IsZero() {
		s += "; next try " + clock(e.Until)
	}
	return strings.TrimRight(cli.OneLine(s), " ")
}
