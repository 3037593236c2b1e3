package commands

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
)

// agentLine is a named agent as `agentd agents` shows it.
type agentLine struct {
	Name        string   `json:"name"`
	Default     bool     `json:"default,omitempty"` // runs that name no agent have it
	Description string   `json:"description,omitempty"`
	Models      []string `json:"models"` // the first one first; "" is the model of the file
	Tools       []string `json:"tools"`  // what selects them, as KEY=VALUES; empty: all tools
	DelegatesTo []string `json:"delegates_to"`
}

// agentList is the JSON output of `agentd agents`.
type agentList struct {
	Agents []agentLine `json:"agents"`
}

func newAgentsCommand(p cli.Process) *cobra.Command {
	s := &setup{process: p}
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the agents of agentd.yaml",
		Long: "Agents lists the named agents of the configuration file: their models, what selects their tools, and the agents to\n" +
			"which they may delegate. A star marks the agent of runs that name none. With -o json it prints an object: agents\n" +
			"(name, default, description, models, tools, delegates_to). No call lists the agents of an `agentd serve`: with a target in use,\n" +
			"the command needs --config.",
		Example: "  agentd agents\n  agentd run --agent reviewer \"Review the last commit.\"",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if served, err := chosen(p); err != nil {
				return err
			} else if served != (serverChoice{}) && s.file == "" {
				at, err := (&target.Choice{Program: program, Process: p}).Find()
				if err != nil {
					return err
				}
				return cli.Usage("the agents of the agentd serve at %s are in its own configuration file, and no RPC lists them; "+
					"`agentd agents --config FILE` lists those of a file here", cli.OneLine(at.Address.String()))
			}
			if err := s.load(cmd.Context()); err != nil {
				return err
			}
			lines := agentLines(&s.config)
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, &agentList{lines})
			}
			if len(lines) == 0 {
				_, err := fmt.Fprintln(p.Out(), "there are no agents; name some under agents in agentd.yaml")
				return err
			}
			_, err := fmt.Fprint(p.Out(), agentsText(lines))
			return err
		},
	}
	cmd.Flags().StringVar(&s.file, "config", "", "configuration `FILE` (default: ./agentd.yaml, else $XDG_CONFIG_HOME/toolhost/agentd.yaml)")
	format.AddFlag(cmd.Flags())
	return cmd
}

func agentLines(c *agentconfig.Config) []agentLine {
	lines := []agentLine{}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		line := agentLine{Name: name, Default: name == c.Agent, Description: a.Description, Models: []string{c.Model}, Tools: selected(&a.Tools), DelegatesTo: []string{}}
		if models := a.Models(); len(models) > 0 {
			line.Models = models
			line.Models[0] = cmp.Or(models[0], c.Model)
		}
		line.DelegatesTo = append(line.DelegatesTo, a.DelegatesTo...)
		lines = append(lines, line)
	}
	return lines
}

// selected returns what selects the tools of an agent.
func selected(s *agentconfig.Selection) []string {
	words := []string{}
	for _, key := range []struct {
		name   string
		values []string
	}{{"names", s.Names}, {"categories", s.Categories}, {"tags", s.Tags}, {"plugins", s.Plugins}, {"excluded", s.Excluded}} {
		if len(key.values) > 0 {
			words = append(words, key.name+"="+strings.Join(key.values, ","))
		}
	}
	if s.Dangerous != nil {
		words = append(words, "dangerous="+strconv.FormatBool(*s.Dangerous))
	}
	if s.MaxCostPerUse != nil {
		words = append(words, fmt.Sprintf("max_cost_per_use=%g", *s.MaxCostPerUse))
	}
	return words
}

// agentsText returns the lines for people.
func agentsText(lines []agentLine) string {
	var b strings.Builder
	for _, l := range lines {
		star := ""
		if l.Default {
			star = " *"
		}
		fmt.Fprintf(&b, "%s%s", l.Name, star)
		if l.Description != "" {
			fmt.Fprintf(&b, ": %s", cli.OneLine(l.Description))
		}
		fmt.Fprintf(&b, "\n  model      %s\n", strings.Join(named(l.Models), ", then "))
		fmt.Fprintf(&b, "  tools      %s\n", cmp.Or(strings.Join(l.Tools, " "), "all"))
		if len(l.DelegatesTo) > 0 {
			fmt.Fprintf(&b, "  delegates  %s\n", strings.Join(l.DelegatesTo, ", "))
		}
	}
	return b.String()
}

// named returns the names of models for people. An empty one depends on the environment.
func named(models []string) []string {
	names := slices.Clone(models)
	for i := range names {
		names[i] = cmp.Or(names[i], "by the key in the environment")
	}
	return names
}
