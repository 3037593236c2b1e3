package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/operator"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/toolhost/pluginfolder"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// Installer changes the content of a plugin folder, and makes the toolhost that serves the folder
// reload. It is not safe for concurrent use.
type Installer struct {
	// WithConfig makes that toolhost apply its configuration file, too, because the caller has
	// changed it for the plugin.
	WithConfig bool
	// Refused returns the error for a plugin that does not describe itself, with the reason. Nil
	// stands for an error with the path of the plugin.
	Refused func(reason string) error

	conn            operate.Connection
	plugins, config string
}

// NewInstaller returns an Installer for a command.
func NewInstaller(p cli.Process) *Installer {
	return &Installer{conn: operate.Connection{Process: p}}
}

// ConfigFile returns the path that --config gives, or "".
func (i *Installer) ConfigFile() string { return i.config }

// AddFlags adds the flags that choose the folder, the configuration and the toolhost.
func (i *Installer) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&i.plugins, "plugins", "", "the folder `DIR` of plugins (default: the first of toolhost.yaml, else XDG_DATA_HOME/toolhost/plugins)")
	flags.StringVar(&i.config, "config", "", "configuration `FILE` (default: toolhost.yaml here, or in XDG_CONFIG_HOME/toolhost)")
	i.conn.AddFlag(flags)
}

// Options returns the options of a toolhost that serves the folder, and the folder.
func (i *Installer) Options() (serve.Options, *pluginfolder.Folder, error) {
	options, err := i.folderOptions()
	if err != nil {
		return options, nil, err
	}
	folder, err := pluginfolder.Open(options.Folders[0])
	return options, folder, err
}

func (i *Installer) folderOptions() (serve.Options, error) {
	getenv := i.conn.Process.Getenv
	flags := serve.Flags{Config: i.config}
	if i.plugins != "" {
		flags.Plugins = []string{i.plugins}
		return flags.Options(getenv)
	}
	options, err := flags.Options(getenv)
	if err != nil && len(options.Folders) == 0 {
		flags.Plugins = []string{cli.PluginsFolder(getenv)}
		return flags.Options(getenv)
	}
	return options, err
}

// otherFolders says that the configuration has further folders, into which Install could have put
// the plugin. It says nothing if the command line names the folder.
func (i *Installer) otherFolders(options serve.Options) []string {
	if i.plugins != "" || len(options.Folders) < 2 {
		return nil
	}
	return []string{fmt.Sprintf("the configuration has %d folders of plugins, of which %s is the first; --plugins DIR chooses another: %s",
		len(options.Folders), options.Folders[0], strings.Join(options.Folders[1:], ", "))}
}

// Install copies a plugin, an executable or a folder, into the folder of plugins, and trusts it. If
// a toolhost serves the folder, Install waits until the plugin is in service. If Install fails, the
// folder is as it was.
func (i *Installer) Install(ctx context.Context, source string) (_ *Installed, err error) {
	options, folder, err := i.Options()
	if err != nil {
		return nil, err
	}
	staged, err := folder.Stage(ctx, source)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, staged.Discard()) }()
	plugin, err := serve.Examine(ctx, options, staged.Folder(), true)
	if err != nil {
		return nil, err
	}
	if err := serve.CheckExamined(plugin, staged.Path(), source); err != nil && !serve.NeedsLogin(plugin) {
		if i.Refused != nil {
			err = i.Refused(plugin.Problem)
		}
		return nil, err
	}
	done := newInstalled(plugin, folder, options)
	done.Warnings = append(done.Warnings, i.otherFolders(options)...)
	defer func() { done.Warnings = append(done.Warnings, missingSecrets(plugin, options)...) }()
	if err := i.use(ctx, options, filepath.Dir(done.Path)); err != nil {
		return nil, err
	}
	err = i.conn.Change(func(c *client.Client) error {
		if err := checkName(ctx, c, done); err != nil {
			return err
		}
		return i.placeAndServe(ctx, c, staged, done, func() (func() error, error) { return i.trust(options, plugin, done.Path) })
	})
	if cli.CodeOf(err) != cli.ExitNoServer || err == nil {
		return done, err
	}
	done.note = "no toolhost runs; the next one has it: toolhost serve"
	if i.plugins != "" {
		done.note += " --plugins " + filepath.Dir(done.Path)
	}
	if done.NeedsLogin {
		done.note += "; then: " + serve.LoginCommand(done.Plugin)
	}
	return done, i.place(staged, done, plugin, options)
}

// place copies a plugin into the folder while no toolhost runs, trusts it, and allows it in the
// lock file, if there is one. If place fails, the folder is as it was.
func (i *Installer) place(staged *pluginfolder.Staged, d *Installed, p *catalog.Plugin, options serve.Options) error {
	placed, err := staged.Place(d.Plugin)
	if err != nil {
		return err
	}
	d.Replaced = placed.Replaced()
	distrust, err := i.trust(options, p, d.Path)
	if err != nil {
		return errors.Join(err, placed.Undo())
	}
	d.LockFile, err = pin(i.conn.Process.Getenv, options.LockFile, d.Plugin, &manifest.Pin{Version: d.Version, Digest: d.Digest})
	if err != nil {
		return errors.Join(err, placed.Undo(), distrust())
	}
	records, err := trust.NewUserStore(i.conn.Process.Getenv).Plugins(options.Folders)
	if err == nil {
		d.keepOwners(options, records)
	}
	return err
}

// trust records that the operator trusts the installed plugin. undo restores the record before.
func (i *Installer) trust(options serve.Options, p *catalog.Plugin, path string) (undo func() error, err error) {
	store := trust.NewUserStore(i.conn.Process.Getenv)
	folders := options.Folders
	records, err := store.Plugins(folders)
	if err != nil {
		return nil, err
	}
	before := records.Source(path)
	return func() error { return store.RestorePlugin(path, before) }, nameOwned(trustAsIs(store, folders, path, p))
}

func newInstalled(p *catalog.Plugin, folder *pluginfolder.Folder, options serve.Options) *Installed {
	d := &Installed{
		Plugin: p.Info.Name, Version: p.Info.Version, Path: folder.Path(p.Info.Name), Digest: p.Digest, Tools: []string{},
		Ungranted: operator.Ungranted(p, p.Permissions(), serve.Granted(options.Plugin(p.Info.Name).Sandbox), launch.Variables(options.Plugin(p.Info.Name))),
		Warnings:  append([]string{}, p.Warnings...), NeedsLogin: serve.NeedsLogin(p),
	}
	if d.Ungranted == nil {
		d.Ungranted = []tool.Ungranted{}
	}
	for _, t := range p.Tools {
		d.Tools = append(d.Tools, t.Spec.Name)
	}
	return d
}

// checkName refuses a plugin if another plugin in service has its name.
func checkName(ctx context.Context, c *client.Client, d *Installed) error {
	plugins, err := c.Admin().Plugins(ctx)
	if err != nil {
		return err
	}
	if other := owner(plugins, d.Plugin, d.Path); other != "" {
		return fmt.Errorf("%s; nothing is changed: take that one away first", nameTaken(d.Plugin, other))
	}
	return nil
}

// placeAndServe copies a plugin into the folder and makes toolhost load it. If toolhost cannot,
// placeAndServe restores the folder.
func (i *Installer) placeAndServe(ctx context.Context, c *client.Client, staged *pluginfolder.Staged, d *Installed, trusts func() (func() error, error)) error {
	placed, err := staged.Place(d.Plugin)
	if err != nil {
		return err
	}
	d.Replaced = placed.Replaced()
	distrust, err := trusts()
	if err != nil {
		return errors.Join(err, placed.Undo())
	}
	reason, err := i.takeOver(ctx, c, d)
	if err == nil && reason == "" {
		return nil
	}
	undoing := context.WithoutCancel(ctx)
	undone := errors.Join(placed.Undo(), distrust())
	if undone == nil {
		_, undone = c.Admin().ReloadPlugins(undoing)
	}
	if err == nil {
		err = fmt.Errorf("the toolhost at %s did not take %s over, and what was there before is put back: %s", c.Addr(), d.Plugin, cli.ShortenDigests(reason))
	}
	return &cli.ExitError{Code: cli.ExitInfrastructure, Err: errors.Join(err, undone)}
}

// takeOver makes toolhost read its folders, and allows the plugin in the lock file, if there is
// one. reason says why toolhost did not load the plugin.
func (i *Installer) takeOver(ctx context.Context, c *client.Client, d *Installed) (reason string, err error) {
	done, plugin, err := i.load(ctx, c, d.Path)
	if err != nil {
		return "", err
	}
	if plugin == nil {
		d.note = fmt.Sprintf("the toolhost at %s does not look into this folder; one does with --plugins %s", c.Addr(), filepath.Dir(d.Path))
		return "", nil
	}
	if d.NeedsLogin {
		return i.takeOverUnread(ctx, c, d)
	}
	own, err := c.Admin().LockFile(ctx)
	if err != nil {
		return "", err
	}
	if _, missing := os.Stat(own.Path); own.Enforced || missing == nil {
		pinned, err := lock(ctx, i.conn.Process.Getenv, c, "", []string{plugin.Name})
		if err != nil {
			return "", err
		}
		d.LockFile = pinned.file
		if failed := slices.IndexFunc(pinned.wishes, func(w wish) bool { return w.failed != "" }); failed >= 0 {
			return pinned.wishes[failed].failed, nil
		}
	}
	if plugin, err = at(ctx, c, d.Path); err != nil || plugin == nil {
		return "", err
	}
	if plugin.State.Off() || plugin.Digest != d.Digest {
		return cmp.Or(failureOf(done, plugin.Name), plugin.Reason, refusalOf(plugin), "it is not known why"), nil
	}
	d.serves(plugin)
	return "", nil
}

// serves adds what a toolhost says of the plugin that it serves.
func (d *Installed) serves(plugin *tool.PluginInfo) {
	d.InService, d.Tools = true, append([]string{}, plugin.Tools...)
	d.Ungranted, d.Warnings = append([]tool.Ungranted{}, plugin.Ungranted...), append([]string{}, plugin.Warnings...)
}

// load makes a toolhost read its folders, and returns the plugin at a path. toolhost may ask a new
// MCP server twice what it is: the first answer can differ from the one that the installer
// recorded. A reload that meets the second question returns before its answer, so load reloads
// again.
func (i *Installer) load(ctx context.Context, c *client.Client, path string) (done tool.Reloaded, plugin *tool.PluginInfo, err error) {
	const attempts = 5
	for range attempts {
		if done, err = i.reload(ctx, c); err != nil {
			return done, nil, err
		}
		if plugin, err = at(ctx, c, path); err != nil || plugin == nil || !beingAsked(plugin) {
			return done, plugin, err
		}
	}
	return done, plugin, nil
}

// beingAsked reports whether toolhost waits for the description of a plugin.
func beingAsked(p *tool.PluginInfo) bool {
	return p.State == tool.PluginUnusable && strings.HasSuffix(p.Reason, "is being asked what it is")
}

// reload makes a toolhost read its folders and, if the caller has changed it, its configuration.
func (i *Installer) reload(ctx context.Context, c *client.Client) (tool.Reloaded, error) {
	if !i.WithConfig {
		return c.Admin().ReloadPlugins(ctx)
	}
	done, err := c.Admin().Reload(ctx)
	if err == nil && done.Configuration != nil && done.Configuration.Problem != "" {
		err = fmt.Errorf("the toolhost at %s refuses its configuration: %s", c.Addr(), done.Configuration.Problem)
	}
	return done, err
}

// Reload makes a toolhost that runs apply its configuration file and read its folders. It does
// nothing if none runs.
func (i *Installer) Reload(ctx context.Context) error {
	err := i.conn.Change(func(c *client.Client) error {
		_, err := c.Admin().Reload(ctx)
		return err
	})
	if cli.CodeOf(err) == cli.ExitNoServer {
		return nil
	}
	return err
}

// failureOf returns the reason why toolhost did not load a plugin, or "" if it loaded the plugin.
// The reload's result does not prove that a plugin of that name in service is this one, because two
// files can declare the same name.
func failureOf(done tool.Reloaded, plugin string) string {
	i := slices.IndexFunc(done.Failures, func(f tool.ReloadFailure) bool { return f.Plugin == plugin })
	if i < 0 {
		return ""
	}
	return done.Failures[i].Reason
}

func refusalOf(p *tool.PluginInfo) string {
	if p.Refusal == nil {
		return ""
	}
	return p.Refusal.Reason
}

// at returns the plugin whose file is at path, or nil if toolhost knows none.
func at(ctx context.Context, c *client.Client, path string) (*tool.PluginInfo, error) {
	plugins, err := c.Admin().Plugins(ctx)
	if err != nil {
		return nil, err
	}
	for i := range plugins {
		if plugins[i].Path == path || samePath(plugins[i].Path, path) {
			return &plugins[i], nil
		}
	}
	return nil, nil
}

// samePath reports whether two paths name the same file. It follows links in the folders.
func samePath(a, b string) bool {
	if filepath.Base(a) != filepath.Base(b) {
		return false
	}
	first, err := os.Stat(filepath.Dir(a))
	if err != nil {
		return false
	}
	second, err := os.Stat(filepath.Dir(b))
	return err == nil && os.SameFile(first, second)
}

// pin changes the entry of a plugin in a lock file, and returns the path of the file. If there is
// no lock file, it returns "". A nil pin removes the entry.
func pin(getenv func(string) string, path, name string, as *manifest.Pin) (string, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	lock, err := serve.ReadLock(getenv, path)
	if err != nil {
		return "", err
	}
	if as == nil {
		delete(lock, name)
	} else {
		lock[name] = *as
	}
	return path, serve.WriteLock(getenv, path, lock)
}

// others lists the plugins of a folder, for the error about a missing plugin.
func others(folder *pluginfolder.Folder) string {
	entries, err := os.ReadDir(folder.Path(""))
	var names []string
	for _, e := range entries {
		if err == nil && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return "it is empty"
	}
	return "it holds " + strings.Join(names, ", ")
}
