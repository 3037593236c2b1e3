package serve

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

// Options are the checked options of `serve`: the configuration file with the flags over it. Paths
// are absolute.
type Options struct {
	config.Config
	file         string // path of the configuration; empty means none
	acceptedLoss string // the id of the ledger whose loss is accepted; empty means none
	// the folder of the ledger and the artifacts; empty means Config.State
	records  string
	listen   address.Address // Config.Listen, parsed
	logLevel slog.Level      // Config.Log.Level, parsed

	hide      []string // further files that plugins must not see
	overruled struct { // settings of the file that a flag replaced; empty means none
		folders                 []string
		state, lockFile, listen string
	}
	lockNamed bool // a flag or the configuration names the lock file
	TrustsAll bool // the operator has just built the plugins, as in `dev`
	getenv    func(string) string

	// reads the configuration again with the same flags; nil means it is not read again
	again func() (Options, error)

	// a copy is used by one process only, so a bytecode cache has no reader
	Brief bool
	// how long copies of replaced plugins stay; 0 means the longest time of a call
	Retention time.Duration
	// wraps the host that the server serves; nil means the host itself
	Observe func(hostserver.Host) hostserver.Host
}

// Flags are the values of the flags. Empty means that the flag is not set.
type Flags struct {
	Plugins                                                                             []string
	Config, Listen, StateDir, records, acceptedLoss, Workspace, Level, format, LockFile string
	hide                                                                                []string
	locked                                                                              bool
}

// NewServeCommand returns the command `serve`.
func NewServeCommand(p cli.Process) *cobra.Command {
	var flags Flags
	cmd := &cobra.Command{
		Use:   "serve [--plugins DIR…] [--config FILE]",
		Short: "Find plugins, run them when they are needed, and serve their tools",
		Long: "Serve finds the plugins in the folders given, starts each when one of its tools is first called, and offers all\n" +
			"tools over gRPC until it is interrupted. It prints one line when it is ready; its log goes to standard error.\n" +
			"Flags count more than the configuration file; docs/configuration.md describes what that can say.",
		Example: "  toolhost serve --plugins bin/plugins",
		Args:    cli.Arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := flags.Options(p.Getenv)
			if err != nil {
				return err
			}
			options.again = func() (Options, error) { return flags.Options(p.Getenv) }
			return WithSubreapers(cmd.Context(), p, func() error { return Run(cmd.Context(), options, p.Out(), p.Stderr) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.Config, "config", "", "configuration `FILE` (default: toolhost.yaml here, or in XDG_CONFIG_HOME/toolhost)")
	f.StringArrayVar(&flags.Plugins, "plugins", nil, "folder `DIR` that holds plugin executables; may be given more than once (default: XDG_DATA_HOME/toolhost/plugins, where `toolhost install` puts them)")
	f.StringVar(&flags.Listen, "listen", "", "`ADDRESS` to listen at: unix:///PATH or 127.0.0.1:PORT (default: this user's socket)")
	f.StringVar(&flags.StateDir, "state", "", "folder `DIR` for what outlives the process (default: XDG_STATE_HOME/toolhost)")
	f.StringVar(&flags.records, "records", "", "folder `DIR` for the ledger of calls and the artifacts, where they are to outlive the state (default: the state's)")
	f.StringVar(&flags.acceptedLoss, "accept-lost-ledger", "", "begin a new ledger of calls in place of the lost one of this `ID`, which toolhost names when it refuses to start")
	f.StringVar(&flags.Workspace, "workspace", "", "folder `DIR` in which tools may work (default: the current folder)")
	f.StringVar(&flags.Level, "log-level", "", "the least `LEVEL` that is logged: debug, info, warn or error (default: info)")
	f.StringVar(&flags.format, "log-format", "", "the `FORM` of the log: text or json (default: text)")
	f.BoolVar(&flags.locked, "locked", false, "run only plugins that the lock file pins, at the digests that it pins")
	f.StringVar(&flags.LockFile, "lock-file", "", "the lock `FILE` (default: toolhost.lock)")
	f.StringArrayVar(&flags.hide, "hide", nil, "`FILE` that no plugin is to see; may be given more than once (agentd: the journal of runs)")
	_ = f.MarkHidden("hide") // cannot fail: the flag exists
	return cmd
}

// Options reads the configuration file, puts the flags over it, and fills in the defaults.
func (f Flags) Options(getenv func(string) string) (Options, error) {
	options := Options{getenv: getenv}
	var args []string
	if f.Config != "" {
		args = []string{f.Config}
	}
	file, err := configFile(getenv, args)
	if err != nil {
		return options, err
	}
	if !file.Named { // before the file is parsed
		if err := trustConfig(getenv, file, nil); err != nil {
			return options, err
		}
	}
	if options.Config, err = loadConfig(file); err != nil {
		return options, err
	}
	options.file = configPath(file.Path)
	options.lockNamed = f.LockFile != "" || file.Path != ""
	said := options.Config
	if err := f.over(&options.Config); err != nil {
		return options, err
	}
	if file.Path != "" {
		options.overrule(said)
	}
	if len(options.Folders) == 0 {
		if _, err := os.Stat(DefaultPlugins(getenv)); err != nil {
			return options, cli.Usage("no plugins are given; name at least one folder of plugin executables with --plugins DIR")
		}
		options.Folders = []string{DefaultPlugins(getenv)}
	}
	if err := resolve(&options.Config, getenv); err != nil {
		return options, err
	}
	if err := trustConfig(getenv, file, writableFolders(&options.Config)); err != nil {
		return options, err
	}
	for _, path := range f.hide {
		path, err := Absolute("--hide", path)
		if err != nil {
			return options, err
		}
		options.hide = append(options.hide, path)
	}
	options.acceptedLoss = f.acceptedLoss
	if f.records != "" {
		if options.records, err = Absolute("--records", f.records); err != nil {
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
		return options, cli.Usage("--log-level: there is no level %q; use debug, info, warn or error", f.Level)
	}
	if format := options.Log.Format; format != "text" && format != "json" {
		return options, cli.Usage("--log-format: there is no form %q; use text or json", format)
	}
	return options, nil
}

// over puts the flags over a configuration. It makes paths absolute: a path of the file is relative
// to the file's folder, and a path of a flag to the current folder.
func (f Flags) over(c *config.Config) error {
	if len(f.Plugins) > 0 {
		c.Folders = nil
	}
	for _, dir := range f.Plugins {
		dir, err := Absolute("--plugins", dir)
		if err != nil {
			return err
		}
		c.Folders = append(c.Folders, dir)
	}
	for _, path := range []struct {
		flag, given string
		target      *string
	}{{"--state", f.StateDir, &c.State}, {"--workspace", f.Workspace, &c.Workspace}, {"--lock-file", f.LockFile, &c.LockFile}} {
		if path.given == "" {
			continue
		}
		dir, err := Absolute(path.flag, path.given)
		if err != nil {
			return err
		}
		*path.target = dir
	}
	c.Listen = cmp.Or(f.Listen, c.Listen)
	c.Log.Level = cmp.Or(f.Level, c.Log.Level)
	c.Log.Format = cmp.Or(f.format, c.Log.Format)
	c.Locked = c.Locked || f.locked
	return nil
}

// overrule records the settings of the file that flags replaced.
func (o *Options) overrule(said config.Config) {
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

// recordsDir returns the folder of the records of calls.
func (o *Options) recordsDir() string { return cmp.Or(o.records, o.State) }

// Absolute returns the absolute path of the value of a flag. An empty value is a usage error.
func Absolute(flag, dir string) (string, error) {
	if dir == "" {
		return "", cli.Usage("%s: the folder's name is empty", flag)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	return abs, nil
}

// DefaultPlugins returns the folder in which `install` puts plugins by default. It follows the XDG
// base directory specification.
func DefaultPlugins(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, cli.Toolhost, "plugins")
	}
	return filepath.Join(getenv("HOME"), ".local", "share", cli.Toolhost, "plugins")
}

// defaultState returns the state folder by the XDG base directory specification. A user without a
// home folder gets a folder that does not outlive a restart of the machine.
func defaultState(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, cli.Toolhost)
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", cli.Toolhost)
	}
	return filepath.Join(os.TempDir(), cli.Toolhost+"-"+strconv.Itoa(os.Getuid()), "state")
}
