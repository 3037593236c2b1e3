package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// The states of what doctor looks at.
const (
	stateOK      = "ok"
	statePartial = "partial" // it works with restrictions, which costs has
	stateMissing = "missing"
	stateFatal   = "fatal" // toolhost cannot work without it
)

// finding is one thing that doctor looked at, as -o json prints it.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"`
	Found  string `json:"found"`
	Costs  string `json:"costs,omitempty"`  // what toolhost cannot do because of it; empty if it is ok
	Remedy string `json:"remedy,omitempty"` // how to get it; empty if it is ok
}

// diagnosis is what doctor found, as -o json prints it.
type diagnosis struct {
	Works  bool      `json:"works"` // nothing that toolhost needs is missing
	Checks []finding `json:"checks"`
}

// NewDoctorCommand returns the command `doctor`.
func NewDoctorCommand(p cli.Process) *cobra.Command {
	var flags Flags
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what this machine gives to toolhost, and what is missing",
		Long: "Doctor checks whether this machine and user have what `toolhost serve` needs: it starts one process with the sandbox\n" +
			"and the limits of a plugin, as serve does, and looks at control groups, folders, disks, the clock, and the\n" +
			"interpreters of plugins. For what is missing, it says what that costs and how to get it. It needs no running toolhost.\n" +
			"Run it as the user that runs toolhost, and in the same unit or container.\n" +
			"The exit code is 3 if toolhost cannot work at all, and 0 otherwise, also if something is missing.\n" +
			"With -o json it prints an object: works, and checks with check, state (ok, partial, missing or fatal), found, costs and remedy.",
		Example: "  toolhost doctor\n  toolhost doctor --config /etc/toolhost/toolhost.yaml",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := diagnose(cmd.Context(), flags, p.Getenv)
			if format.JSON() {
				if err := cli.WriteJSON(p.Stdout, d); err != nil {
					return err
				}
			} else if err := d.write(p); err != nil {
				return err
			}
			if !d.Works {
				return &cli.ExitError{Code: cli.ExitInfrastructure, Err: errors.New("toolhost cannot work on this machine; see what is fatal")}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.Config, "config", "", "configuration `FILE` of the toolhost (default: as for `toolhost serve`)")
	f.StringVar(&flags.StateDir, "state", "", "state folder `DIR` of the toolhost (default: as for `toolhost serve`)")
	f.StringVar(&flags.Workspace, "workspace", "", "workspace `DIR` of the toolhost (default: as for `toolhost serve`)")
	format.AddFlag(f)
	return cmd
}

// diagnose looks at everything.
func diagnose(ctx context.Context, flags Flags, getenv func(string) string) diagnosis {
	checks := []finding{kernel(), clock(), openFiles()}
	c, err := flags.read(getenv) // a machine without a plugin is well
	if err != nil {
		checks = append(checks, finding{"configuration", stateFatal, err.Error(), "toolhost does not start", "correct what the message says"})
	} else {
		options := Options{Config: *c, getenv: getenv}
		checks = append(checks, confinement(ctx, options)...)
		checks = append(checks, places(ctx, options)...)
	}
	d := diagnosis{Works: true, Checks: append(checks, interpreters(ctx)...)}
	for _, f := range d.Checks {
		d.Works = d.Works && f.State != stateFatal
	}
	return d
}

// write writes a table for people, and then what is missing.
func (d diagnosis) write(p cli.Process) error {
	rows := [][]string{}
	for _, f := range d.Checks {
		rows = append(rows, []string{f.Check, f.State, f.Found})
	}
	if err := cli.WriteTable(p.Stdout, p.Screen(), []string{"CHECK", "STATE", "FOUND"}, rows); err != nil {
		return err
	}
	out, told := p.Out(), map[string]bool{"": true}
	for _, f := range d.Checks {
		if told[f.Remedy] {
			continue
		}
		told[f.Remedy] = true
		fmt.Fprintln(out)
		for _, same := range d.Checks { // one remedy may help with several things
			if same.Remedy == f.Remedy {
				writeWrapped(out, p.Screen(), same.Check+": "+same.Costs)
			}
		}
		writeWrapped(out, p.Screen(), "  to get it: "+f.Remedy)
	}
	return nil
}

// writeWrapped writes a text in lines that fit on the screen.
func writeWrapped(out io.Writer, screen cli.Screen, text string) {
	lines := []string{cli.OneLine(text)}
	if screen.Columns > 0 {
		lines = cli.Wrap(lines[0], screen.Columns)
	}
	fmt.Fprintln(out, strings.Join(lines, "\n"))
}
