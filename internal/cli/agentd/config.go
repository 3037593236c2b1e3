package agentd

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/trust"
	"github.com/toolhost/toolhost/internal/yamldoc"
)

func newConfigCommand(p cli.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check or show agentd.yaml",
		Long: "Config checks or shows a configuration file: FILE, else ./agentd.yaml, else\n" +
			"$XDG_CONFIG_HOME/toolhost/agentd.yaml. docs/agentd.md describes all keys.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigCheckCommand(p), newConfigShowCommand(p))
	return cmd
}

func newConfigCheckCommand(p cli.Process) *cobra.Command {
	var format cli.Format
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a configuration file, and say all that is wrong with it",
		Long: "Check reads a configuration file as the other commands do. If something is wrong, it says all of it, with line,\n" +
			"column and what is allowed, and exits with 2. With -o json it prints an object.",
		Example: "  agentd config check agentd.yaml",
		Args:    cli.Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := configFile(p.Getenv, args)
			if err != nil {
				return err
			}
			c, err := loadConfig(file)
			distrusted := trustConfig(p.Getenv, file, nil)
			if format.JSON() {
				return printVerdict(p, file, err, distrusted)
			}
			if err := noteDistrust(p.Err(), distrusted); err != nil {
				return err
			}
			switch {
			case err != nil:
				return err
			case file.Path == "":
				_, err = fmt.Fprintln(p.Out(), "there is no configuration file: all defaults hold")
				return err
			}
			_, err = fmt.Fprintf(p.Out(), "%s is valid: %d models, %d kinds of tasks\n", file.Path, len(c.Models), len(c.Kinds))
			return err
		},
	}
	format.AddFlag(cmd.Flags())
	return cmd
}

func newConfigShowCommand(p cli.Process) *cobra.Command {
	return &cobra.Command{
		Use:   "show [FILE]",
		Short: "Show what holds, with all defaults, as a file that can be used",
		Long: "Show prints a configuration with every key and what holds for it, defaults included, as YAML that can be loaded\n" +
			"again. Paths are absolute.",
		Example: "  agentd config show > agentd.yaml",
		Args:    cli.Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := configFile(p.Getenv, args)
			if err != nil {
				return err
			}
			c, err := loadConfig(file)
			if err := noteDistrust(p.Err(), trustConfig(p.Getenv, file, nil)); err != nil {
				return err
			}
			if err != nil {
				return err
			}
			if c.Listen == "" {
				c.Listen = address.Default(program, p.Getenv).String()
			}
			if c.State == "" {
				c.State = stateDir(p.Getenv)
			}
			if c.Journal == "" {
				c.Journal = filepath.Join(c.State, journalName)
			}
			_, err = p.Data().Write(c.YAML())
			return err
		},
	}
}

// configVerdict is the result of `config check`, as -o json prints it.
type configVerdict struct {
	File    string         `json:"file"` // empty if there is no file
	Valid   bool           `json:"valid"`
	Trusted bool           `json:"trusted"` // whether `agentd run` in this folder uses the file
	Errors  yamldoc.Errors `json:"errors"`
}

func printVerdict(p cli.Process, file trust.File, err, distrusted error) error {
	v := configVerdict{File: file.Path, Valid: err == nil, Trusted: distrusted == nil, Errors: yamldoc.Errors{}}
	if found, ok := errors.AsType[yamldoc.Errors](err); ok {
		v.Errors = found
	} else if err != nil {
		v.Errors = yamldoc.Errors{{File: file.Path, Message: err.Error()}}
	}
	if err := cli.WriteJSON(p.Stdout, v); err != nil || v.Valid {
		return err
	}
	return &cli.ExitError{Code: cli.ExitUsage}
}
