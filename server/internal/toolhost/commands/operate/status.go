package operate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/tool"
)

// NewStatusCommand returns the command `status`.
func NewStatusCommand(p cli.Process) *cobra.Command {
	conn := Connection{Process: p}
	var format cli.Format
	var fleet bool
	var flags serve.Flags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show whether toolhost answers, whether all is well, and its version",
		Long: "Status asks the running toolhost whether all is well. Not well is a plugin that does not take calls, does not run what\n" +
			"is in its folder, or has a warning; a call of the last 24 hours whose outcome is unknown; a full ledger; an audit log\n" +
			"that cannot be written; records of the log that were lost in the last ten minutes; and a configuration file with which\n" +
			"toolhost would not start. Plugins that the configuration disables, or that an operator paused or rolled back, are well.\n" +
			"Notes are worth to know and can wait: paused plugins, telemetry that cannot be exported, and settings that are not in\n" +
			"effect. Then it shows the version, commit and contracts of toolhost. `toolhost --version` shows those of this program.\n" +
			"The exit code is 0 if all is well, 1 if something is not, and 4 if no toolhost answers. A caller without the right\n" +
			"plugins.read gets 0 from a toolhost that answers.\n" +
			"With -o json it prints one object: well, problems, notes, address and server.\n" +
			"With --fleet it asks the database of records in toolhost.yaml, and no toolhost: it compares the toolhosts that share the\n" +
			"ledger, and says in what they differ: state, version, plugins (with their trust), and settings, by digests. The exit\n" +
			"code is 0 if they are alike, and 1 if not. With -o json it then prints an object: alike, nodes and differences, each\n" +
			"with what, and values with value and nodes.",
		Example: "  toolhost status\n  toolhost status --fleet --config /etc/toolhost/toolhost.yaml",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch given := cmd.Flags().Changed; {
			case fleet && (given("addr") || given("target")):
				return cli.Usage("--fleet asks the database of toolhost.yaml, and no toolhost: leave out --addr and --target")
			case !fleet && given("config"):
				return cli.Usage("--config is for --fleet")
			case fleet:
				return statusOfFleet(cmd.Context(), p, flags, format.JSON())
			}
			return conn.With(func(c *client.Client) error {
				v, err := c.Version(cmd.Context())
				if err != nil {
					return err
				}
				s := statusView{Problems: []problem{}, Notes: []note{}, Status: cli.Status{Program: cli.Toolhost, Address: c.Addr(), Server: v}}
				s.Clip()
				if err := s.look(cmd.Context(), c.Admin()); err != nil {
					return err
				}
				if err := s.write(p, format.JSON()); err != nil {
					return err
				}
				if !s.Well {
					return &cli.ExitError{Code: cli.ExitToolError}
				}
				return nil
			})
		},
	}
	conn.AddFlag(cmd.Flags())
	cmd.Flags().BoolVar(&fleet, "fleet", false, "compare the toolhosts that share the ledger of this machine's toolhost.yaml")
	cmd.Flags().StringVar(&flags.Config, "config", "", "with --fleet: configuration `FILE` of the toolhost (default: as for `toolhost serve`)")
	format.AddFlag(cmd.Flags())
	return cmd
}

// problem is something that is not well.
type problem struct {
	Plugin  string `json:"plugin,omitempty"` // empty: it concerns no plugin
	Problem string `json:"problem"`
}

// note is something that an operator may want to know although all is well.
type note struct {
	Plugin string `json:"plugin,omitempty"` // empty: it concerns no plugin
	Note   string `json:"note"`
}

// statusView is the result, as -o json prints it.
type statusView struct {
	Well     bool      `json:"well"`
	Problems []problem `json:"problems"`
	Notes    []note    `json:"notes"`
	cli.Status
	unseen bool // the caller may not see plugins
}

// look finds out what is not well.
func (s *statusView) look(ctx context.Context, a *client.Admin) error {
	plugins, err := a.Plugins(ctx)
	s.unseen = tool.KindOf(err) == tool.KindDenied
	if err != nil && !s.unseen {
		return err
	}
	for _, p := range plugins {
		if p.State == tool.PluginPaused {
			s.Notes = append(s.Notes, note{p.Name, stateWords(p.State) + ": " + p.Reason})
		}
		text := notWell(p)
		if text == "" && len(p.Warnings) > 0 && !rolledBack(ctx, a, p) {
			text = "warning: " + strings.Join(p.Warnings, "; ")
		}
		if text != "" {
			s.Problems = append(s.Problems, problem{p.Name, text})
		}
	}
	if !s.unseen {
		if err := s.lookAtToolhost(ctx, a); err != nil {
			return err
		}
		if n := unsettled(ctx, a); n > 0 {
			s.Problems = append(s.Problems, problem{"", fmt.Sprintf("nobody knows what became of %s; see `toolhost calls --state failed`", cli.Count(n, "call"))})
		}
	}
	s.Well = len(s.Problems) == 0
	return nil
}

// lookAtToolhost finds out what is not well with toolhost itself.
func (s *statusView) lookAtToolhost(ctx context.Context, a *client.Admin) error {
	conditions, err := a.Conditions(ctx)
	for _, c := range conditions {
		if c.Problem {
			s.Problems = append(s.Problems, problem{"", c.Message})
		} else {
			s.Notes = append(s.Notes, note{"", c.Message})
		}
	}
	return err
}

// notWell returns why a plugin does not take all calls, or does not run what is in its folder; ""
// if it does both, or if an operator wants that.
func notWell(p tool.PluginInfo) string {
	switch {
	case p.State == tool.PluginDisabled:
		return ""
	case p.State != tool.PluginEnabled && p.State != tool.PluginPaused:
		return stateWords(p.State) + ": " + p.Reason
	case p.Reason != "" && p.State == tool.PluginEnabled:
		return p.Reason
	case p.Refusal != nil:
		return "what is in its folder is not used: " + p.Refusal.Reason
	}
	return ""
}

// rolledBack reports whether the only warning of a plugin says that an operator rolled it back.
func rolledBack(ctx context.Context, a *client.Admin, p tool.PluginInfo) bool {
	if len(p.Warnings) > 1 {
		return false
	}
	revisions, err := a.Revisions(ctx, p.Name) // an older toolhost has none
	return err == nil && len(revisions) > 0 && revisions[0].Current && revisions[0].Cause == tool.RevisionRolledBack
}

// unsettled counts the calls of the last 24 hours whose outcome is unknown, up to the 1000 newest
// that failed. A caller that may not list calls sees none.
func unsettled(ctx context.Context, a *client.Admin) (n int) {
	page, err := a.Calls(ctx, tool.CallQuery{State: tool.CallFailed, Since: time.Now().Add(-24 * time.Hour), PageSize: 1000})
	if err != nil {
		return 0
	}
	for _, r := range page.Calls {
		if r.Err != nil && r.Err.Kind == tool.KindOutcomeUnknown &&
			(r.Settled == nil || r.Settled.Verdict == "" || r.Settled.Verdict == tool.VerdictUnknown) {
			n++
		}
	}
	return n
}

func (s *statusView) write(p cli.Process, asJSON bool) error {
	if asJSON {
		return cli.WriteJSON(p.Stdout, s)
	}
	switch {
	case s.unseen:
		fmt.Fprintln(p.Out(), "toolhost answers; you may not see its plugins")
	case s.Well:
		fmt.Fprintln(p.Out(), "all is well")
	default:
		fmt.Fprintf(p.Out(), "not well: %s\n", cli.Count(len(s.Problems), "problem"))
	}
	for _, x := range s.Problems {
		fmt.Fprintln(p.Out(), "  "+aboutPlugin(x.Plugin, x.Problem))
	}
	for _, x := range s.Notes {
		fmt.Fprintln(p.Out(), "  note: "+aboutPlugin(x.Plugin, x.Note))
	}
	return cli.WriteStatus(p, s.Status, false)
}

// aboutPlugin returns a line about a plugin, or about toolhost if plugin is empty.
func aboutPlugin(plugin, text string) string {
	if plugin != "" {
		text = fmt.Sprintf("%s: %s; see `toolhost why %s`", plugin, text, plugin)
	}
	return cli.OneLine(text)
}
