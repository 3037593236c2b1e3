package commands

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

func newShowCommand(p cli.Process) *cobra.Command {
	s := &server{setup: setup{process: p}}
	var format cli.Format
	var follow bool
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show the story of a run",
		Long: "Show tells what happened in a run up to now: what was said, which calls were made and their whole results, what people\n" +
			"decided, what it used, and why it ended. With -o json it prints the events, as `agentd run -o json` does.\n\n" +
			"With --follow it shows events as they happen, until the run ends or Ctrl-C. What the model writes to the journal is shown\n" +
			"when it is whole. With --target or --addr, or with a target in use, it shows a run of a server.",
		Example: "  agentd show run-k3f6zq7xw2m4n5pa\n  agentd show --follow run-k3f6zq7xw2m4n5pa\n  agentd show --target prod run-k3f6zq7xw2m4n5pa",
		Args:    oneRun("show"),
		RunE: func(cmd *cobra.Command, args []string) error {
			reach, served, err := s.open()
			if err != nil {
				return err
			}
			return reach(cmd.Context(), func(a *client.AgentClient) error {
				h := history{AgentClient: a, served: served, at: s.found}
				if format.JSON() {
					return h.tell(cmd.Context(), args[0], &jsonDisplay{out: p.Stdout}, follow)
				}
				return h.story(cmd.Context(), p, args[0], follow)
			})
		},
	}
	s.setup.addJournalFlags(cmd.Flags())
	s.addServerFlags(cmd.Flags())
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what happens until the run ends")
	format.AddFlag(cmd.Flags())
	return cmd
}

// tell shows a run's events.
func (h *history) tell(ctx context.Context, runID string, d display, follow bool) error {
	for e, err := range h.events(ctx, runID, follow) {
		if err != nil {
			return err
		}
		if err := d.show(e); err != nil {
			return terminal.Written(err)
		}
	}
	return nil
}

// story shows a run to people. If the journal cannot be read to its end, it shows the part that can
// be read.
func (h *history) story(ctx context.Context, p cli.Process, runID string, follow bool) error {
	r, err := h.GetRun(ctx, runID)
	if tool.KindOf(err) == tool.KindNotFound {
		return err
	}
	d := newTextDisplay(p)
	d.story = true
	if !follow {
		d.block = nil // no call of a story is running
	}
	if err == nil {
		err = facts(d, &r)
	}
	if err := errors.Join(h.tell(ctx, runID, d, follow), d.leave()); err != nil || follow {
		return err
	}
	return errors.Join(err, waitsFor(d, &r, h.at))
}

// facts shows the task, the limits and the result of a run.
func facts(d *textDisplay, r *client.Run) error {
	const layout = "2006-01-02 15:04:05"
	facts := [][2]string{
		{"run", r.ID}, {"model", r.Model}, {"state", stateOf(r)},
		{"began", r.Started.Local().Format(layout)},
		{"took", duration(max(r.Updated.Sub(r.Started), time.Millisecond))},
		{"used", fmt.Sprintf("%s, %s, %d tokens read and %d written", cli.Count(r.Turns, "turn"), cli.Count(r.Calls, "call"), r.Usage.InputTokens, r.Usage.OutputTokens)},
		{"cost", money(r.Cost)},
	}
	if r.Parked != "" {
		facts = append(facts, [2]string{"parked", r.Parked})
	}
	if words := settlementsOf(r.Settlements); words != "" {
		facts = append(facts, [2]string{"settled", words})
	}
	if r.ParentRunID != "" {
		facts = append(facts, [2]string{"parent", r.ParentRunID + ", call " + r.ParentCallID})
	}
	for _, fact := range facts {
		if err := d.line(dim, "%-7s %s", fact[0], cli.OneLine(fact[1])); err != nil {
			return terminal.Written(err)
		}
	}
	return terminal.Written(d.put("\n"))
}

// settlementsOf says what became of the calls of a run whose outcome was lost; "" if no tool was
// asked.
func settlementsOf(s client.Settlements) string {
	var words []string
	for _, kind := range []struct {
		calls int
		text  string
	}{{s.Happened, "had happened"}, {s.Repeated, "had not happened, and made again"}, {s.Unknown, "asked about, and still unknown"}} {
		if kind.calls > 0 {
			words = append(words, cli.Count(kind.calls, "call")+" "+kind.text)
		}
	}
	return strings.Join(words, "; ")
}

// waitsFor shows which decisions a run waits for, and how to make them.
func waitsFor(d *textDisplay, r *client.Run, at serverChoice) error {
	for _, p := range r.Pending {
		until := ""
		if !p.Expires.IsZero() {
			until = ", until " + p.Expires.Local().Format("2006-01-02 15:04")
		}
		if err := d.line(yellow, "… waits for %s%s: %s", p.ID, until, decideBy(r, &p, at)); err != nil {
			return terminal.Written(err)
		}
		if p.RunID == "" {
			continue // the story has the offers of the run's own decisions
		}
		if err := d.offers(&p); err != nil {
			return terminal.Written(err)
		}
	}
	return nil
}

// decideBy returns how to make a decision on a run that was read at a server, or in the journal.
func decideBy(r *client.Run, p *client.PendingDecision, at serverChoice) string {
	switch {
	case r.Foreground && at != (serverChoice{}):
		return "decide where the run was begun"
	case r.Foreground: // no server works on the run
		return "decide where the run was begun; if that process has ended: agentd resume " + r.ID
	case p.Kind == client.DecideQuestion:
		return fmt.Sprintf("agentd respond %s%s --answer %s=…", cli.ShellWord(r.ID), at.flags(), cli.ShellWord(p.ID))
	}
	return fmt.Sprintf("agentd respond %s%s --approve %s", cli.ShellWord(r.ID), at.flags(), cli.ShellWord(p.ID))
}

func number(n int) string { return strconv.Itoa(n) }

// money returns a cost in the currency of the prices. It returns "-" if the cost is 0 or unknown.
func money(cost float64) string {
	if cost == 0 {
		return "-"
	}
	return strconv.FormatFloat(cost, 'g', 4, 64)
}
