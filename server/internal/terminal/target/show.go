package target

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// targetView is a target, as -o json prints it.
type targetView struct {
	Name    string `json:"name"`
	Current bool   `json:"current"` // chosen with `target use`
	Target
}

func view(name string, all *targets) targetView {
	return targetView{Name: name, Current: name == all.Current, Target: all.Targets[name]}
}

func newListCommand(s store, p cli.Process) *cobra.Command {
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the targets and mark the one in use",
		Long: "List prints the targets. The one that commands use without --target and --addr has a *.\n" +
			"With -o json it prints an array of objects: name, current, and the settings of the target.",
		Example: fmt.Sprintf("  %s target list", s.program),
		Args:    cli.Arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			all, err := s.read()
			if err != nil {
				return err
			}
			views := []targetView{s.local(all, p)}
			for _, name := range all.names() {
				views = append(views, view(name, all))
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, views)
			}
			var rows [][]string
			for _, v := range views {
				mark := ""
				if v.Current {
					mark = "*"
				}
				rows = append(rows, []string{mark, v.Name, v.where(), v.presents()})
			}
			if err := cli.WriteTable(p.Stdout, p.Screen(), []string{"", "NAME", "ADDRESS", "PRESENTS"}, rows); err != nil {
				return err
			}
			s.noteOverride(p)
			return nil
		},
	}
	format.AddFlag(cmd.Flags())
	return cmd
}

// local returns the view of the target at the socket of this user.
func (s store) local(all *targets, p cli.Process) targetView {
	at := address.Local(s.program, p.Getenv)
	return targetView{Name: Local, Current: all.Current == "", Target: Target{Address: at.String()}}
}

// noteOverride says that the environment chooses a server in place of the target in use.
func (s store) noteOverride(p cli.Process) {
	for _, name := range []string{address.Variable(s.program), Variable(s.program)} {
		if value := p.Getenv(name); value != "" {
			fmt.Fprintf(p.Err(), "%s: note: %s has precedence: %s\n", s.program, name, cli.OneLine(value))
		}
	}
}

func newShowCommand(s store, p cli.Process) *cobra.Command {
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show the settings of a target",
		Long: "Show prints the settings of a target, by default of the one in use. It prints no token.\n" +
			"With -o json it prints an object: name, current, and the settings of the target.",
		Example:           fmt.Sprintf("  %s target show prod", s.program),
		Args:              cli.Arguments(0, 1),
		ValidArgsFunction: completeFirst(s.program, p),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := s.read()
			if err != nil {
				return err
			}
			name := all.Current
			if len(args) > 0 {
				name = args[0]
			}
			v := s.local(all, p)
			if name != "" && name != Local {
				if _, exists := all.Targets[name]; !exists {
					return unknown(s.program, name, all)
				}
				v = view(name, all)
			}
			if format.JSON() {
				return cli.WriteJSON(p.Stdout, v)
			}
			return v.print(p)
		},
	}
	format.AddFlag(cmd.Flags())
	return cmd
}

// print prints the settings that are set, one per line.
func (v targetView) print(p cli.Process) error {
	rows := [][2]string{
		{"name", v.Name}, {"address", v.Address}, {"fleet", strings.Join(v.Nodes, ", ")}, {"ca", v.CA}, {"cert", v.Certificate}, {"key", v.Key},
		{"server name", v.ServerName}, {"token file", v.TokenFile}, {"token command", v.TokenCommand},
	}
	if v.Current {
		rows = append(rows, [2]string{"in use", "yes"})
	}
	if v.AllowPlainToken {
		rows = append(rows, [2]string{"allow plain token", "yes"})
	}
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(p.Out(), "%-18s %s\n", row[0]+":", cli.OneLine(row[1])); err != nil {
			return err
		}
	}
	return nil
}
