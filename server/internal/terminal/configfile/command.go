package configfile

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// Command returns the command `config` of the program, with its subcommands.
func (p *Program[C]) Command(process cli.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check, show or compare " + p.FileName,
		Long: fmt.Sprintf("Config checks, shows or compares a configuration file: FILE, else ./%s, else\n"+
			"$XDG_CONFIG_HOME/toolhost/%s. %s describes all keys.", p.FileName, p.FileName, p.Page),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.checkCommand(process), p.showCommand(process))
	return cmd
}

func (p *Program[C]) checkCommand(process cli.Process) *cobra.Command {
	var format cli.Format
	var named argument
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a configuration file, and list all errors",
		Long: fmt.Sprintf("Check reads a configuration file as `%s` does. It lists all errors, each with its line, its column and\n"+
			"what is allowed, and exits with 2 if there is one. With -o json it prints an object.", p.User),
		Example: fmt.Sprintf("  %s config check %s", p.Name, p.FileName),
		Args:    cli.Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := named.path(args)
			if err != nil {
				return err
			}
			return p.check(process, path, format.JSON())
		},
	}
	named.addFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

func (p *Program[C]) check(process cli.Process, path string, asJSON bool) error {
	file, err := p.Read(process.Getenv, path)
	if err != nil {
		return err
	}
	c, invalid := p.Decode(file)
	warnings := []string{}
	if invalid == nil && p.References != nil && file.Path != "" {
		found, err := p.References(&c, process.Getenv)
		if warnings = append(warnings, found...); err != nil {
			invalid = &cli.ExitError{Code: cli.ExitUsage, Err: fmt.Errorf("%s cannot work: %w", file.Path, err)}
		}
	}
	if invalid == nil {
		warnings = append(warnings, p.Warnings(file)...)
	}
	distrusted := CheckTrust(process.Getenv, file, nil)
	if asJSON {
		return printVerdict(process, file, warnings, invalid, distrusted)
	}
	p.Warn(process.Err(), warnings)
	if err := p.NoteDistrust(process.Err(), distrusted); err != nil {
		return err
	}
	if invalid != nil {
		return invalid
	}
	if file.Path == "" {
		_, err = fmt.Fprintln(process.Out(), "there is no configuration file: all defaults hold")
	} else {
		_, err = fmt.Fprintf(process.Out(), "%s is valid: %s\n", file.Path, p.Summary(&c))
	}
	return err
}

func (p *Program[C]) showCommand(process cli.Process) *cobra.Command {
	var named argument
	long := "Show prints the effective configuration as YAML that can be loaded again: every key with its value, defaults\n" +
		"included. Paths are absolute."
	if p.ShowNote != "" {
		long += " " + p.ShowNote
	}
	cmd := &cobra.Command{
		Use:     "show [FILE]",
		Short:   "Show the effective configuration, with all defaults, as a valid file",
		Long:    long,
		Example: fmt.Sprintf("  %s config show > %s", p.Name, p.FileName),
		Args:    cli.Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			path, err := named.path(args)
			if err != nil {
				return err
			}
			return p.show(process, path)
		},
	}
	named.addFlag(cmd.Flags())
	return cmd
}

func (p *Program[C]) show(process cli.Process, path string) error {
	file, err := p.Read(process.Getenv, path)
	if err != nil {
		return err
	}
	c, invalid := p.Decode(file)
	if err := p.NoteDistrust(process.Err(), CheckTrust(process.Getenv, file, nil)); err != nil {
		return err
	}
	if invalid != nil {
		return invalid
	}
	if err := p.Complete(&c, process.Getenv); err != nil {
		return err
	}
	_, err = process.Data().Write(p.YAML(&c))
	return err
}

// argument is the file that a command gets as its argument or as the flag --config. It accepts both
// forms, because a user who has just typed `serve --config` types the flag again.
type argument string

func (a *argument) addFlag(flags *pflag.FlagSet) {
	flags.StringVar((*string)(a), "config", "", "configuration `FILE`, the same as the argument")
}

// path returns the path of the file, or "" if the command names none.
func (a *argument) path(args []string) (string, error) {
	switch {
	case len(args) == 0:
		return string(*a), nil
	case *a != "":
		return "", cli.Usage("two configuration files are named, %s and %s; name one", *a, args[0])
	case args[0] == "":
		return "", cli.Usage("the name of the configuration file is empty")
	}
	return args[0], nil
}

// verdict is the result of `config check`, as -o json prints it.
type verdict struct {
	File    string         `json:"file"` // empty if there is no file
	Valid   bool           `json:"valid"`
	Trusted bool           `json:"trusted"` // whether the program uses the file in this folder
	Errors  yamldoc.Errors `json:"errors"`
	// what the file refers to and is not there, deprecated keys, and who else can change the file
	Warnings []string `json:"warnings"`
}

func printVerdict(process cli.Process, file trust.File, warnings []string, invalid, distrusted error) error {
	v := verdict{File: file.Path, Valid: invalid == nil, Trusted: distrusted == nil, Errors: yamldoc.Errors{}, Warnings: warnings}
	if found, ok := errors.AsType[yamldoc.Errors](invalid); ok {
		v.Errors = found
	} else if invalid != nil {
		v.Errors = yamldoc.Errors{{File: file.Path, Message: invalid.Error()}}
	}
	if err := cli.WriteJSON(process.Stdout, v); err != nil || v.Valid {
		return err
	}
	return &cli.ExitError{Code: cli.ExitUsage}
}
