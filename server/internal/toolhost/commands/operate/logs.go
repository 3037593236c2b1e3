package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// NewLogsCommand returns the command `logs`.
func NewLogsCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var query tool.LogQuery
	var since cli.Since
	cmd := &cobra.Command{
		Use:   "logs [PLUGIN]",
		Short: "Show what a plugin wrote, or all plugins",
		Long: "Logs shows what a plugin, or without a name every plugin, wrote to standard error, standard output and the logs of\n" +
			"its calls, the oldest line first. A bounded number of lines is kept, and none over a restart of toolhost: toolhost's own\n" +
			"log has older ones. With -f it goes on with new lines until it is\n" +
			"interrupted, which is no failure; if the toolhost goes away it says so and exits with code 4.\n" +
			"With -o json it prints one object a line: seq, plugin, instance, call_id and the record.",
		Example:           "  toolhost logs calculator -f\n  toolhost logs calculator --since 10m\n  toolhost logs --call run-1.turn-2.0",
		Args:              cli.Arguments(0, 1),
		ValidArgsFunction: conn.CompletePlugin,
		RunE: func(cmd *cobra.Command, args []string) error {
			if query.Last < 0 {
				return cli.Usage("--last: %d is negative; use 0 for all lines that are kept", query.Last)
			}
			if len(args) == 1 {
				query.Plugin = args[0]
			}
			return conn.With(func(c *client.Client) error {
				return showLogs(cmd.Context(), c, p, query, since.Time(), format.JSON())
			})
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&query.Follow, "follow", "f", false, "go on with new lines as they come")
	f.StringVar(&query.CallID, "call", "", "only lines of the call with this `ID`")
	tenantFlag(f, &query.Tenants, "lines")
	since.AddFlag(f, "only lines from this `TIME` on: 10m or 24h ago, or 2026-01-31T08:00:00Z")
	f.IntVar(&query.Last, "last", 0, "begin with the last `N` lines that are kept (default: all)")
	conn.AddFlag(f)
	format.AddFlag(f)
	return cmd
}

func showLogs(ctx context.Context, c *client.Client, p cli.Process, q tool.LogQuery, since time.Time, asJSON bool) error {
	p.Stdout = cli.UntilDone(ctx, p.Stdout)
	lines := 0
	show := func(l tool.LogLine) error {
		if l.Record.Time.Before(since) {
			return nil
		}
		lines++
		if asJSON {
			return cli.WriteJSON(p.Stdout, l)
		}
		_, err := fmt.Fprintln(p.Out(), logLine(l))
		return err
	}
	if q.Follow {
		return follow(ctx, c.Admin().TailLogs(ctx, q), show)
	}
	if err := printAll(c.Admin().TailLogs(ctx, q), show); err != nil {
		return err
	}
	if lines == 0 && !asJSON {
		from := ""
		if !since.IsZero() {
			from = " from " + clock(since) + " on"
		}
		fmt.Fprintf(p.Err(), "no lines of %s%s are kept; lines from before the last start of toolhost are only in its own log, such as: journalctl -u toolhost\n", subject(q), from)
	}
	return nil
}

// subject names the plugin of the requested lines, for messages.
func subject(q tool.LogQuery) string {
	s := "any plugin"
	if q.Plugin != "" {
		s = q.Plugin
	}
	if q.CallID != "" {
		s += " and the call " + q.CallID
	}
	if len(q.Tenants) > 0 {
		s += " of " + strings.Join(q.Tenants, ", ")
	}
	return s
}

// logLine returns a line of the log with its time.
func logLine(l tool.LogLine) string { return clock(l.Record.Time) + "  " + LogText(l) }

// LogText returns a log record without its time. A record of several lines, such as a stack trace,
// keeps its lines. Each line after the first begins with continues, so a plugin cannot write a line
// that looks like the record of another plugin.
func LogText(l tool.LogLine) string {
	r := l.Record
	var b strings.Builder
	fmt.Fprintf(&b, "%-5s  %s  ", r.Level, cmp.Or(l.Instance, l.Plugin))
	if l.CallID != "" {
		fmt.Fprintf(&b, "[%s] ", l.CallID)
	}
	b.WriteString(strings.TrimRight(r.Message, "\n"))
	var below strings.Builder // attributes whose values have several lines
	for _, key := range slices.Sorted(maps.Keys(r.Attributes)) {
		if key == "pid" {
			continue // the name of the instance contains it
		}
		var text string
		if json.Unmarshal(r.Attributes[key], &text) == nil && strings.Contains(strings.TrimRight(text, "\n"), "\n") {
			fmt.Fprintf(&below, "\n%s:\n%s", key, strings.TrimRight(text, "\n"))
			continue
		}
		fmt.Fprintf(&b, "  %s=%s", key, r.Attributes[key])
	}
	b.WriteString(below.String())
	var lines []string
	for line := range strings.Lines(strings.TrimRight(cli.Visible(b.String()), "\n")) {
		lines = append(lines, cli.OneLine(strings.TrimRight(line, "\n")))
	}
	return strings.Join(lines, "\n"+continues)
}

// continues begins each line that belongs to the record above it.
const continues = "    | "
