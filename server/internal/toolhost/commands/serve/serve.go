package serve

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
)

// Options are the checked options of `serve`: the configuration file with the flags over it. Paths
// are absolute.
type Options struct {
	config.Config
	file         string // path of the configuration; empty means none
	acceptedLoss string // the id of the ledger whose loss is accepted; empty means none
	// the folder of the ledger and the artifacts; empty means Config.State
	records   string
	listen    address.Address               // Config.Listen, parsed
	listeners []listen.Config               // that of Config.Listen, Config.Listeners and Config.MCP, which --listen replaces, and the others
	nodes     string                        // where other toolhosts reach this one; empty: nowhere
	listening struct{ byFile, byFlag bool } // what gives Config.Listen; neither: it is the default
	logLevels loglevel.Levels               // of Config.Log, parsed

	settle    time.Duration // how long the start waits for new plugins; 0 means settleGrace
	hide      []string      // further files that plugins must not see
	programs  []string      // further programs that the operator starts
	overruled struct {      // settings of the file that a flag replaced; empty means none
		folders                 []string
		state, lockFile, listen string
		workspaces              string // the folder of those of tenants or sessions
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

	warnings []string // about the configuration file
}

// Flags has the values of the flags of `serve`. Empty means that the flag is not set.
type Flags struct {
	Plugins                                                                             []string
	Config, Listen, StateDir, records, acceptedLoss, Workspace, Level, format, LockFile string
	hide, programs                                                                      []string
	locked, shipped                                                                     bool
	settle                                                                              time.Duration
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
			configuration().Warn(cli.UntilDone(cmd.Context(), p.Stderr), options.warnings)
			options.again = func() (Options, error) { return flags.Options(p.Getenv) }
			return WithSubreapers(cmd.Context(), p, func() error { return Run(cmd.Context(), options, p.Out(), p.Stderr) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.Config, "config", "", "configuration `FILE` (default: toolhost.yaml here, or in XDG_CONFIG_HOME/toolhost)")
	f.StringArrayVar(&flags.Plugins, "plugins", nil, "folder `DIR` that holds plugin executables; may be given more than once (default: XDG_DATA_HOME/toolhost/plugins, where `toolhost install` puts them)")
	f.StringVar(&flags.Listen, "listen", "", "`ADDRESS` to listen at, instead of those of the file: unix:///PATH or 127.0.0.1:PORT (default: this user's socket)")
	f.StringVar(&flags.StateDir, "state", "", "folder `DIR` for what outlives the process (default: XDG_STATE_HOME/toolhost)")
	f.StringVar(&flags.records, "records", "", "folder `DIR` for the ledger of calls and the artifacts, where they are to outlive the state (default: the state's)")
	f.StringVar(&flags.acceptedLoss, "accept-lost-ledger", "", "go on without the calls of the lost ledger of this `ID`, which toolhost names when it refuses to start or warns of a restored ledger")
	f.StringVar(&flags.Workspace, "workspace", "", "folder `DIR` in which tools may work (default: the current folder)")
	f.StringVar(&flags.Level, "log-level", "", logging.LevelUsage)
	f.StringVar(&flags.format, "log-format", "", "the `FORM` of the log: text or json (default: text)")
	f.BoolVar(&flags.locked, "locked", false, "run only plugins that the lock file pins, at the digests that it pins")
	f.StringVar(&flags.LockFile, "lock-file", "", "the lock `FILE` (default: toolhost.lock)")
	f.StringArrayVar(&flags.hide, "hide", nil, "`FILE` that no plugin is to see; may be given more than once (agentd: the journal of runs)")
	_ = f.MarkHidden("hide") // cannot fail: the flag exists
	f.StringArrayVar(&flags.programs, "program", nil, "`FILE` that the operator starts and no plugin is to change (agentd: itself)")
	_ = f.MarkHidden("program")
	f.BoolVar(&flags.shipped, "shipped", false, "also serve the plugins that came with this program (agentd: its own toolhost)")
	_ = f.MarkHidden("shipped") // cannot fail: the flag exists
	f.DurationVar(&flags.settle, "settle", 0, "the `TIME` that the start waits for the descriptions of new plugins (agentd: a run lists its tools once)")
	_ = f.MarkHidden("settle") // cannot fail: the flag exists
	return cmd
}

// Options reads the configuration file, puts the flags over it, and fills in the defaults.
func (f Flags) Options(getenv func(string) string) (Options, error) {
	options := Options{getenv: getenv}
	c, file, err := configuration().Use(getenv, f.Config)
	if err != nil {
		return options, err
	}
	options.Config, options.warnings = c, configuration().Warnings(file)
	options.file = configPath(file.Path)
	options.listening.byFile, options.listening.byFlag = c.Listen != "", f.Listen != ""
	options.lockNamed = f.LockFile != "" || file.Path != ""
	written := options.Config
	if err := f.over(&options.Config); err != nil {
		return options, err
	}
	if err := options.setLevels(f.Level); err != nil {
		return options, err
	}
	if file.Path != "" {
		options.overrule(written)
	}
	if err := options.addDefaultFolders(f.shipped); err != nil {
		return options, err
	}
	if err := resolve(&options.Config, getenv); err != nil {
		return options, err
	}
	if err := configfile.CheckTrust(getenv, file, writableFolders(&options.Config)); err != nil {
		return options, err
	}
	if err := f.addPrivate(&options); err != nil {
		return options, err
	}
	return options, options.parse()
}

// addPrivate adds the flags that have no key in the configuration file.
func (f Flags) addPrivate(options *Options) (err error) {
	for _, path := range f.hide {
		path, err := Absolute("--hide", path)
		if err != nil {
			return err
		}
		options.hide = append(options.hide, path)
	}
	options.programs = f.programs
	options.acceptedLoss, options.settle = f.acceptedLoss, f.settle
	if f.records != "" {
		options.records, err = Absolute("--records", f.records)
	}
	return err
}

// parse parses and checks the settings that are text: the address, and the form of the log.
func (o *Options) parse() (err error) {
	if o.listen, err = address.ParseListener(o.Listen); err != nil {
		return cli.Usage("--listen: %w", err)
	}
	further, web := o.Listeners, o.MCP.Listeners
	if o.listening.byFlag {
		further, web = nil, nil
	}
	if o.listeners, err = authconfig.Configs(o.listen, o.listening.byFile || o.listening.byFlag, o.Insecure, further); err != nil {
		return cli.Usage("listen: %w", err)
	}
	configs, err := authconfig.WebConfigs(web)
	if err != nil {
		return cli.Usage("mcp.listeners: %w", err)
	}
	programs, err := o.HTTP.Configs()
	if err != nil {
		return cli.Usage("http.listen: %w", err)
	}
	nodes, err := o.Nodes.Configs()
	if err != nil {
		return cli.Usage("nodes.listen: %w", err)
	}
	o.listeners = slices.Concat(o.listeners, configs, programs, nodes) // at the end: the first listener is one for gRPC
	if format := o.Log.Format; format != "text" && format != "json" {
		return cli.Usage("--log-format: there is no form %q; use text or json", format)
	}
	return nil
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
	}{{"--state", f.StateDir, &c.State}, {"--workspace", f.Workspace, &c.Workspace.Folder}, {"--lock-file", f.LockFile, &c.LockFile}} {
		if path.given == "" {
			continue
		}
		dir, err := Absolute(path.flag, path.given)
		if err != nil {
			return err
		}
		*path.target = dir
	}
	if f.Workspace != "" { // one folder for all calls
		c.Workspace = config.Workspace{Backend: config.LocalBackend, Mode: config.SharedWorkspace, Folder: c.Workspace.Folder, Remote: c.Workspace.Remote}
	}
	c.Listen = cmp.Or(f.Listen, c.Listen)
	c.Log.Format = cmp.Or(f.format, c.Log.Format)
	c.Locked = c.Locked || f.locked
	return nil
}

// overrule records the settings of the file that flags replaced.
func (o *Options) overrule(written config.Config) {
	if !slices.Equal(written.Folders, o.Folders) {
		o.overruled.folders = written.Folders
	}
	if written.State != o.State {
		o.overruled.state = written.State
	}
	if written.LockFile != o.LockFile {
		o.overruled.lockFile = written.LockFile
	}
	if written.Workspace.Backend == config.LocalBackend && written.Workspace.Mode != config.SharedWorkspace && o.Workspace.Mode == config.SharedWorkspace {
		o.overruled.workspaces = written.Workspace.Folder
	}
	if written.Listen != o.Listen {
		o.overruled.listen = written.Listen
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
