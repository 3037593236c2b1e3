package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/cli"
)

// serveOptions is what `serve` is told by its flags, checked and made absolute.
type serveOptions struct {
	plugins   []string        // folders of plugins; at least one
	listen    address.Address // where clients connect
	stateDir  string          // what outlives this process
	workspace string          // the folder in which tools may work
	logLevel  slog.Level
}

// serveFlags is what the command line says, as it is.
type serveFlags struct {
	plugins                            []string
	listen, stateDir, workspace, level string
}

func newServeCommand(p cli.Process) *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve --plugins DIR [--plugins DIR…]",
		Short: "Find plugins, run them when they are needed, and serve their tools",
		Long: "Serve finds the plugins in the folders given, starts each when one of its tools is first called, and offers all\n" +
			"tools over gRPC until it is interrupted. It prints one line when it is ready; its log goes to standard error.",
		Example: "  toolhost serve --plugins bin/plugins",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := flags.options(p.Getenv)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), options, p.Stdout, p.Stderr)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&flags.plugins, "plugins", nil, "folder `DIR` that holds plugin executables; may be given more than once")
	f.StringVar(&flags.listen, "listen", "", "`ADDRESS` to listen at: unix:///PATH or 127.0.0.1:PORT (default: this user's socket)")
	f.StringVar(&flags.stateDir, "state", "", "folder `DIR` for what outlives the process (default: XDG_STATE_HOME/toolhost)")
	f.StringVar(&flags.workspace, "workspace", "", "folder `DIR` in which tools may work (default: the current folder)")
	f.StringVar(&flags.level, "log-level", "info", "the least `LEVEL` that is logged: debug, info, warn or error")
	return cmd
}

// options checks the flags and fills in the defaults.
func (f serveFlags) options(getenv func(string) string) (serveOptions, error) {
	options := serveOptions{listen: address.Default(program, getenv)}
	if len(f.plugins) == 0 {
		return options, cli.Usage("no plugins are given; name at least one folder of plugin executables with --plugins DIR")
	}
	var err error
	for _, dir := range f.plugins {
		if dir, err = absolute("--plugins", dir); err != nil {
			return options, err
		}
		options.plugins = append(options.plugins, dir)
	}
	if f.listen != "" {
		if options.listen, err = address.Parse(f.listen); err != nil {
			return options, cli.Usage("--listen: %w", err)
		}
	}
	if err := options.logLevel.UnmarshalText([]byte(f.level)); err != nil {
		return options, cli.Usage("--log-level: there is no level %q; use debug, info, warn or error", f.level)
	}
	if f.stateDir == "" {
		f.stateDir = defaultState(getenv)
	}
	if options.stateDir, err = absolute("--state", f.stateDir); err != nil {
		return options, err
	}
	if f.workspace == "" {
		f.workspace = "."
	}
	options.workspace, err = absolute("--workspace", f.workspace)
	return options, err
}

func absolute(flag, dir string) (string, error) {
	if dir == "" {
		return "", cli.Usage("%s: the folder's name is empty", flag)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	return abs, nil
}

// defaultState follows the XDG base directory specification. A user without a home gets a folder that does not outlive
// the machine's next start.
func defaultState(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, program)
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", program)
	}
	return filepath.Join(os.TempDir(), program+"-"+strconv.Itoa(os.Getuid()), "state")
}
