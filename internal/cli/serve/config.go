package serve

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/trust"
)

// NewConfigCommand returns the command `config`.
func NewConfigCommand(p cli.Process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check or show toolhost.yaml",
		Long: "Config checks or shows a configuration file: FILE, else ./toolhost.yaml, else\n" +
			"$XDG_CONFIG_HOME/toolhost/toolhost.yaml. docs/configuration.md describes all keys.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigCheckCommand(p), newConfigShowCommand(p))
	return cmd
}

func newConfigCheckCommand(p cli.Process) *cobra.Command {
	var format cli.Format
	var flag configFlag
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a configuration file, and say all that is wrong with it",
		Long: "Check reads a configuration file as `toolhost serve` does. If something is wrong, it says all of it, with line,\n" +
			"column and what is allowed, and exits with 2. With -o json it prints an object.",
		Example: "  toolhost config check toolhost.yaml",
		Args:    cli.Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := flag.file(p.Getenv, args)
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
			if err != nil {
				return err
			}
			if file.Path == "" {
				_, err = fmt.Fprintln(p.Out(), "there is no configuration file: all defaults hold")
			} else {
				_, err = fmt.Fprintf(p.Out(), "%s is valid: %s, settings of %s\n", file.Path, cli.Count(len(c.Folders), "plugin folder"), cli.Count(len(c.ByPlugin), "plugin"))
			}
			return err
		},
	}
	flag.addFlag(cmd.Flags())
	format.AddFlag(cmd.Flags())
	return cmd
}

func newConfigShowCommand(p cli.Process) *cobra.Command {
	var flag configFlag
	cmd := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Show what holds, with all defaults, as a file that can be used",
		Long: "Show prints a configuration with every key and what holds for it, defaults included, as YAML that can be loaded\n" +
			"again. Paths are absolute. Of each plugin it prints what differs from the defaults.",
		Example: "  toolhost config show > toolhost.yaml",
		Args:    cli.Arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := flag.file(p.Getenv, args)
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
			if err := resolve(&c, p.Getenv); err != nil {
				return err
			}
			_, err = p.Data().Write(c.YAML())
			return err
		},
	}
	flag.addFlag(cmd.Flags())
	return cmd
}

// configFlag is --config of a command that also takes the file as its argument. A user who just
// typed `serve --config` types it again.
type configFlag string

func (f *configFlag) addFlag(flags *pflag.FlagSet) {
	flags.StringVar((*string)(f), "config", "", "configuration `FILE`, the same as the argument")
}

// file reads the configuration file that the flag, the argument or the search path names.
func (f *configFlag) file(getenv func(string) string, args []string) (trust.File, error) {
	if *f == "" {
		return configFile(getenv, args)
	}
	if len(args) > 0 {
		return trust.File{}, cli.Usage("two configuration files are named, %s and %s; name one", *f, args[0])
	}
	return configFile(getenv, []string{string(*f)})
}

// resolve replaces empty settings by the defaults of this machine and user.
func resolve(c *config.Config, getenv func(string) string) error {
	if c.Listen == "" {
		c.Listen = address.Default(cli.Toolhost, getenv).String()
	}
	if c.State == "" {
		c.State = defaultState(getenv)
	}
	for _, path := range []*string{&c.State, &c.Workspace, &c.LockFile} {
		// an empty path becomes the current folder, the default of the workspace
		abs, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("looking for the current folder: %w", err)
		}
		*path = abs
	}
	if c.Audit.File == "" {
		c.Audit.File = filepath.Join(c.State, "audit.jsonl")
	}
	return nil
}

// verdict is the result of `config check`, as -o json prints it.
type verdict struct {
	File    string        `json:"file"` // empty if there is no file
	Valid   bool          `json:"valid"`
	Trusted bool          `json:"trusted"` // whether `toolhost serve` in this folder uses the file
	Errors  config.Errors `json:"errors"`
}

func printVerdict(p cli.Process, file trust.File, err, distrusted error) error {
	v := verdict{File: file.Path, Valid: err == nil, Trusted: distrusted == nil, Errors: config.Errors{}}
	if found, ok := errors.AsType[config.Errors](err); ok {
		v.Errors = found
	} else if err != nil {
		v.Errors = config.Errors{{File: file.Path, Message: err.Error()}}
	}
	if err := cli.WriteJSON(p.Stdout, v); err != nil || v.Valid {
		return err
	}
	return &cli.ExitError{Code: cli.ExitUsage}
}
