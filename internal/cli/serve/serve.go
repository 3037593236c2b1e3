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

// serveOptions is what `serve` is to do, checked: the configuration file with the flags over it. Paths are absolute.
type Options struct {
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
	TrustsAll bool // the plugins are the operator's own work of this moment
	getenv    func(string) string

	again func() (Options, error) // reads the configuration once more, under the same flags; nil: it is not read again

	Brief     bool                                  // no process starts twice from the same copy, most likely
	Retention time.Duration                         // of copies of plugins that are out of use; 0: as long as a call may take
	Observe   func(hostserver.Host) hostserver.Host // returns what is served in place of the host; nil: the host
}

// serveFlags is what the command line says, as it is. What it does not say is empty.
type Flags struct {
	Plugins                                                                             []string
	Config, Listen, StateDir, records, acceptedLoss, Workspace, Level, format, LockFile string
	hide                                                                                []string
	locked                                                                              bool
}

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
	_ = f.MarkHidden("hide") // the flag exists
	return cmd
}

// options reads the configuration file, puts the flags over it, and fills in the defaults.
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
	if !file.Named { // before its content is read as a configuration
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

// over puts what the flags say over a configuration. Paths are made absolute here, because those of a file count from its
// folder and those of flags from the current one.
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

// overrule notes what the configuration said before the flags.
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

// recordsDir returns the folder of what is kept of calls.
func (o *Options) recordsDir() string { return cmp.Or(o.records, o.State) }

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

// defaultPlugins is where plugins are installed if nobody says otherwise. It follows the XDG base directory specification.
func DefaultPlugins(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, cli.Toolhost, "plugins")
	}
	return filepath.Join(getenv("HOME"), ".local", "share", cli.Toolhost, "plugins")
}

// defaultState follows the XDG base directory specification. A user without a home gets a folder that does not outlive
// the machine's next start.
func defaultState(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, cli.Toolhost)
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", cli.Toolhost)
	}
	return filepath.Join(os.TempDir(), cli.Toolhost+"-"+strconv.Itoa(os.Getuid()), "state")
}
