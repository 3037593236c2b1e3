package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/rpc/hostserver"
)

// serveOptions is what `serve` is to do, checked: the configuration file with the flags over it. Paths are absolute.
type serveOptions struct {
	config.Config
	file         string          // that the configuration is of; empty: none
	acceptedLoss string          // the id of the ledger whose loss is accepted; empty: none
	records      string          // the folder of the ledger and the artifacts; empty: Config.State
	listen       address.Address // of Config.Listen
	logLevel     slog.Level      // of Config.Log.Level

	hide      []string // further files that plugins are not to see
	overruled struct { // what the configuration says and a flag says otherwise; empty: nothing
		folders                 []string
		state, lockFile, listen string
	}
	lockNamed bool // the lock file was not just found in the current folder
	trustsAll bool // the plugins are the operator's own work of this moment
	getenv    func(string) string

	again func() (serveOptions, error) // reads the configuration once more, under the same flags; nil: it is not read again

	brief     bool                                  // no process starts twice from the same copy, most likely
	retention time.Duration                         // of copies of plugins that are out of use; 0: as long as a call may take
	observe   func(hostserver.Host) hostserver.Host // returns what is served in place of the host; nil: the host
}

// serveFlags is what the command line says, as it is. What it does not say is empty.
type serveFlags struct {
	plugins                                                                             []string
	config, listen, stateDir, records, acceptedLoss, workspace, level, format, lockFile string
	hide                                                                                []string
	locked                                                                              bool
}

func newServeCommand(p cli.Process) *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve [--plugins DIR…] [--config FILE]",
		Short: "Find plugins, run them when they are needed, and serve their tools",
		Long: "Serve finds the plugins in the folders given, starts each when one of its tools is first called, and offers all\n" +
			"tools over gRPC until it is interrupted. It prints one line when it is ready; its log goes to standard error.\n" +
			"Flags count more than the configuration file; docs/configuration.md describes what that can say.",
		Example: "  toolhost serve --plugins bin/plugins",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := flags.options(p.Getenv)
			if err != nil {
				return err
			}
			options.again = func() (serveOptions, error) { return flags.options(p.Getenv) }
			return withSubreapers(cmd.Context(), p, func() error { return serve(cmd.Context(), options, p.Out(), p.Stderr) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.config, "config", "", "configuration `FILE` (default: toolhost.yaml here, or in XDG_CONFIG_HOME/toolhost)")
	f.StringArrayVar(&flags.plugins, "plugins", nil, "folder `DIR` that holds plugin executables; may be given more than once (default: XDG_DATA_HOME/toolhost/plugins, where `toolhost install` puts them)")
	f.StringVar(&flags.listen, "listen", "", "`ADDRESS` to listen at: unix:///PATH or 127.0.0.1:PORT (default: this user's socket)")
	f.StringVar(&flags.stateDir, "state", "", "folder `DIR` for what outlives the process (default: XDG_STATE_HOME/toolhost)")
	f.StringVar(&flags.records, "records", "", "folder `DIR` for the ledger of calls and the artifacts, where they are to outlive the state (default: the state's)")
	f.StringVar(&flags.acceptedLoss, "accept-lost-ledger", "", "begin a new ledger of calls in place of the lost one of this `ID`, which toolhost names when it refuses to start")
	f.StringVar(&flags.workspace, "workspace", "", "folder `DIR` in which tools may work (default: the current folder)")
	f.StringVar(&flags.level, "log-level", "", "the least `LEVEL` that is logged: debug, info, warn or error (default: info)")
	f.StringVar(&flags.format, "log-format", "", "the `FORM` of the log: text or json (default: text)")
	f.BoolVar(&flags.locked, "locked", false, "run only plugins that the lock file pins, at the digests that it pins")
	f.StringVar(&flags.lockFile, "lock-file", "", "the lock `FILE` (default: toolhost.lock)")
	f.StringArrayVar(&flags.hide, "hide", nil, "`FILE` that no plugin is to see; may be given more than once (agentd: the journal of runs)")
	_ = f.MarkHidden("hide") // the flag exists
	return cmd
}

// options reads the configuration file, puts the flags over it, and fills in the defaults.
func (f serveFlags) options(getenv func(string) string) (serveOptions, error) {
	options := serveOptions{getenv: getenv}
	var args []string
	if f.config != "" {
		args = []string{f.config}
	}
	file, err := configFile(getenv, args)
	if err != nil {
		return options, err
	}
	if !file.Named { // before its content is read as a configuration
		if err := trustConfig(getenv, file, nil); err != nil {
			return options, err
		}
	}
	if options.Config, err = loadConfig(file); err != nil {
		return options, err
	}
	options.file = configPath(file.Path)
	options.lockNamed = f.lockFile != "" || file.Path != ""
	said := options.Config
	if err := f.over(&options.Config); err != nil {
		return options, err
	}
	if file.Path != "" {
		options.overrule(said)
	}
	if len(options.Folders) == 0 {
		if _, err := os.Stat(defaultPlugins(getenv)); err != nil {
			return options, cli.Usage("no plugins are given; name at least one folder of plugin executables with --plugins DIR")
		}
		options.Folders = []string{defaultPlugins(getenv)}
	}
	if err := resolve(&options.Config, getenv); err != nil {
		return options, err
	}
	if err := trustConfig(getenv, file, writableFolders(&options.Config)); err != nil {
		return options, err
	}
	for _, path := range f.hide {
		path, err := absolute("--hide", path)
		if err != nil {
			return options, err
		}
		options.hide = append(options.hide, path)
	}
	options.acceptedLoss = f.acceptedLoss
	if f.records != "" {
		if options.records, err = absolute("--records", f.records); err != nil {
			return options, err
		}
	}
	if options.listen, err = address.Parse(options.Listen); err != nil {
		return options, cli.Usage("--listen: %w", err)
	}
	if err := options.listen.CheckSecure(options.Insecure); err != nil {
		return options, cli.Usage("listen: %w", err)
	}
	if err := options.logLevel.UnmarshalText([]byte(options.Log.Level)); err != nil {
		return options, cli.Usage("--log-level: there is no level %q; use debug, info, warn or error", f.level)
	}
	if format := options.Log.Format; format != "text" && format != "json" {
		return options, cli.Usage("--log-format: there is no form %q; use text or json", format)
	}
	return options, nil
}

// over puts what the flags say over a configuration. Paths are made absolute here, because those of a file count from its
// folder and those of flags from the current one.
func (f serveFlags) over(c *config.Config) error {
	if len(f.plugins) > 0 {
		c.Folders = nil
	}
	for _, dir := range f.plugins {
		dir, err := absolute("--plugins", dir)
		if err != nil {
			return err
		}
		c.Folders = append(c.Folders, dir)
	}
	for _, path := range []struct {
		flag, given string
		target      *string
	}{{"--state", f.stateDir, &c.State}, {"--workspace", f.workspace, &c.Workspace}, {"--lock-file", f.lockFile, &c.LockFile}} {
		if path.given == "" {
			continue
		}
		dir, err := absolute(path.flag, path.given)
		if err != nil {
			return err
		}
		*path.target = dir
	}
	c.Listen = cmp.Or(f.listen, c.Listen)
	c.Log.Level = cmp.Or(f.level, c.Log.Level)
	c.Log.Format = cmp.Or(f.format, c.Log.Format)
	c.Locked = c.Locked || f.locked
	return nil
}

// overrule notes what the configuration said before the flags.
func (o *serveOptions) overrule(said config.Config) {
	if !slices.Equal(said.Folders, o.Folders) {
		o.overruled.folders = said.Folders
	}
	if said.State != o.State {
		o.overruled.state = said.State
	}
	if said.LockFile != o.LockFile {
		o.overruled.lockFile = said.LockFile
	}
	if said.Listen != o.Listen {
		o.overruled.listen = said.Listen
	}
}

// recordsDir returns the folder of what is kept of calls.
func (o *serveOptions) recordsDir() string { return cmp.Or(o.records, o.State) }

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

// defaultPlugins is where plugins are installed if nobody says otherwise. It follows the XDG base directory specification.
func defaultPlugins(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, program, "plugins")
	}
	return filepath.Join(getenv("HOME"), ".local", "share", program, "plugins")
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
