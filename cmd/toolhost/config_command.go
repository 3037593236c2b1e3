package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/config"
)

func newConfigCommand(p cli.Process) *cobra.Command {
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
			if format.JSON() {
				return printVerdict(p, file, err)
			}
			if err != nil {
				return err
			}
			if file == "" {
				_, err = fmt.Fprintln(p.Out(), "there is no configuration file: all defaults hold")
			} else {
				_, err = fmt.Fprintf(p.Out(), "%s is valid: %s, settings of %s\n", file, count(len(c.Folders), "plugin folder"), count(len(c.ByPlugin), "plugin"))
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

// configFlag is --config of commands that take the file as their argument too: whoever has just typed `serve --config`
// types it again.
type configFlag string

func (f *configFlag) addFlag(flags *pflag.FlagSet) {
	flags.StringVar((*string)(f), "config", "", "configuration `FILE`, the same as the argument")
}

// file returns the file to use, wherever it is named.
func (f *configFlag) file(getenv func(string) string, args []string) (string, error) {
	if *f == "" {
		return configFile(getenv, args)
	}
	if len(args) > 0 {
		return "", cli.Usage("two configuration files are named, %s and %s; name one", *f, args[0])
	}
	return string(*f), nil
}

// configFile returns the file that the arguments name, else the one that is found, else "".
func configFile(getenv func(string) string, args []string) (string, error) {
	if len(args) > 0 {
		if args[0] == "" {
			return "", cli.Usage("the name of the configuration file is empty")
		}
		return args[0], nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("looking for the configuration: %w", err)
	}
	file, err := config.Find(getenv, cwd)
	if err != nil {
		return "", &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	return file, nil
}

// loadConfig reads a file, or returns the defaults if there is none. That something is wrong is wrong usage.
func loadConfig(file string) (config.Config, error) {
	if file == "" {
		return config.Default(), nil
	}
	c, err := config.Load(file)
	if found, ok := errors.AsType[config.Errors](err); ok {
		err = fmt.Errorf("%s has %s:\n%w", file, count(len(found), "error"), found)
	}
	if err != nil {
		return c, &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	return c, nil
}

// resolve fills in what holds here where the file says nothing.
func resolve(c *config.Config, getenv func(string) string) error {
	if c.Listen == "" {
		c.Listen = address.Default(program, getenv).String()
	}
	if c.State == "" {
		c.State = defaultState(getenv)
	}
	for _, path := range []*string{&c.State, &c.Workspace, &c.LockFile} {
		abs, err := filepath.Abs(*path) // an empty one becomes the current folder, which is the workspace's default
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

// verdict is what `config check -o json` prints.
type verdict struct {
	File   string        `json:"file"` // empty: there is none
	Valid  bool          `json:"valid"`
	Errors config.Errors `json:"errors"`
}

func printVerdict(p cli.Process, file string, err error) error {
	v := verdict{File: file, Valid: err == nil, Errors: config.Errors{}}
	if found, ok := errors.AsType[config.Errors](err); ok {
		v.Errors = found
	} else if err != nil {
		v.Errors = config.Errors{{File: file, Message: err.Error()}}
	}
	if err := cli.WriteJSON(p.Stdout, v); err != nil || v.Valid {
		return err
	}
	return &cli.ExitError{Code: cli.ExitUsage}
}
