package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/operate"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/tool"
)

// pinning is a change of a lock file: the old entries, the new entries, and the plugins.
type pinning struct {
	file     string
	enforced bool // toolhost follows the file
	before   manifest.Lock
	lock     manifest.Lock
	getenv   func(string) string
	wishes   []wish
}

// wish is a plugin whose present digest the lock file must allow.
type wish struct {
	name    string // the name in the lock file
	path    string
	digest  string
	version string       // empty if the plugin has not described itself
	before  manifest.Pin // the entry before; zero if there was none
	failed  string       // why the lock file does not allow the plugin; empty if it does
}

// read reads the lock file. If the file is not a lock file, read refuses to replace it unless the
// operator named it.
func (p *pinning) read(overwrite bool) error {
	lock, err := serve.ReadLock(p.getenv, p.file)
	switch {
	case err == nil:
		p.before = lock
	case errors.Is(err, fs.ErrNotExist), overwrite:
		p.before = manifest.Lock{}
	default:
		return fmt.Errorf("%w; it stays unchanged: name it with --file to replace it", err)
	}
	return nil
}

// choose computes the new entries for the named plugins, or for all.
func (p *pinning) choose(plugins []tool.PluginInfo, names []string) error {
	if len(names) == 0 {
		p.lock = manifest.Lock{}
		for _, plugin := range plugins {
			if w, ok := p.wish(plugins, plugin); ok && owner(plugins, w.name, w.path) == "" {
				p.add(w)
			} else if pin, known := p.before[plugin.Name]; known {
				p.lock[plugin.Name] = pin // a plugin that is unusable today stays allowed
			}
		}
		return nil
	}
	p.lock = maps.Clone(p.before)
	for _, name := range names {
		i := slices.IndexFunc(plugins, func(plugin tool.PluginInfo) bool {
			return plugin.Name == name || plugin.Refusal != nil && plugin.Refusal.Name == name
		})
		if i < 0 {
			return operate.UnknownPlugin(plugins, name)
		}
		w, ok := p.wish(plugins, plugins[i])
		if !ok {
			return tool.Errorf(tool.KindUnavailable, "the plugin %q cannot be allowed as it is: %s", name, plugins[i].Reason)
		}
		if other := owner(plugins, w.name, w.path); other != "" {
			return tool.Errorf(tool.KindUnavailable, "%s cannot be allowed: %s", w.path, nameTaken(w.name, other))
		}
		p.add(w)
	}
	return nil
}

func (p *pinning) add(w wish) {
	p.lock[w.name] = manifest.Pin{Version: w.version, Digest: w.digest}
	p.wishes = append(p.wishes, w)
}

// wish returns the entry for a plugin, or false if the plugin has no file that could run.
func (p *pinning) wish(plugins []tool.PluginInfo, plugin tool.PluginInfo) (wish, bool) {
	w := wish{name: plugin.Name, path: plugin.Path, digest: plugin.Digest, version: plugin.Version}
	if r := plugin.Refusal; r != nil && r.Locked {
		w.digest, w.version = r.Digest, ""
		if r.Name != "" {
			w.name = r.Name
		} else if plugin.State.Off() {
			w.name = provisional(plugins, plugin)
		}
	} else if plugin.State.Off() || plugin.Digest == "" {
		return wish{}, false
	}
	w.before = p.before[w.name]
	return w, true
}

// owner returns the path of another plugin in service with the name, or "".
func owner(plugins []tool.PluginInfo, name, path string) string {
	for _, plugin := range plugins {
		if plugin.Name == name && plugin.Path != path && !plugin.State.Off() {
			return plugin.Path
		}
	}
	return ""
}

func nameTaken(name, other string) string {
	return fmt.Sprintf("it calls itself %q, and that is %s", name, other)
}

// provisional returns a name for a plugin that has not described itself, usually the name of its
// file.
func provisional(plugins []tool.PluginInfo, plugin tool.PluginInfo) string {
	taken := slices.ContainsFunc(plugins, func(other tool.PluginInfo) bool {
		return other.Name == plugin.Name && other.Path != plugin.Path
	})
	if taken || tool.CheckName(plugin.Name) != nil {
		return "new-" + cli.ShortDigest(plugin.Digest)
	}
	return plugin.Name
}

// enforceRounds bounds how often lock writes the file. It writes the file with the chosen entries,
// again with the names that the plugins declare, again without the plugins that did not start, and
// again with the versions of the others.
const enforceRounds = 4

// enforce makes toolhost load the lock file, and corrects the file by the result.
func (p *pinning) enforce(ctx context.Context, c *client.Client) error {
	for range enforceRounds {
		// fulfil finds the plugins that toolhost did not load
		if _, err := c.Admin().ReloadPlugins(ctx); err != nil {
			return err
		}
		plugins, err := c.Admin().Plugins(ctx)
		if err != nil {
			return err
		}
		before := maps.Clone(p.lock)
		for i := range p.wishes {
			if err := p.fulfil(ctx, c, &p.wishes[i], plugins); err != nil {
				return err
			}
		}
		if maps.Equal(before, p.lock) {
			return nil
		}
		if err := serve.WriteLock(p.getenv, p.file, p.lock); err != nil {
			return err
		}
	}
	return nil
}

// fulfil finds out whether toolhost loaded the plugin of a wish, and corrects the lock file. The
// error is an error of toolhost, not of the plugin.
func (p *pinning) fulfil(ctx context.Context, c *client.Client, w *wish, plugins []tool.PluginInfo) error {
	i := slices.IndexFunc(plugins, func(plugin tool.PluginInfo) bool { return plugin.Path == w.path })
	switch {
	case w.failed != "":
	case i < 0:
		p.giveUp(w, "its file is gone")
	case plugins[i].Digest == w.digest && !plugins[i].State.Off():
		p.rename(w, plugins[i].Name, plugins[i].Version)
	case operate.LockedOut(plugins[i]) && plugins[i].Refusal.Name != "" && plugins[i].Refusal.Name != w.name:
		if other := owner(plugins, plugins[i].Refusal.Name, w.path); other != "" {
			p.giveUp(w, nameTaken(plugins[i].Refusal.Name, other))
		} else {
			p.rename(w, plugins[i].Refusal.Name, "")
		}
	case plugins[i].State.Off():
		p.giveUp(w, plugins[i].Reason)
	// the plugin did not start, or toolhost did not put its candidate into service; an upgrade of
	// this plugin alone returns the reason
	default:
		if _, err := c.Admin().Upgrade(ctx, plugins[i].Name); ctx.Err() != nil || errors.Is(err, client.ErrNoServer) {
			return err
		} else if err != nil {
			p.giveUp(w, err.Error())
		} else {
			p.rename(w, w.name, provisionalVersion)
		}
	}
	return nil
}

// provisionalVersion is the version of a plugin that has just come into service, until fulfil reads
// its version.
const provisionalVersion = "?"

// rename changes the entry of a wish to the name that the plugin declares.
func (p *pinning) rename(w *wish, name, version string) {
	if name != w.name {
		delete(p.lock, w.name)
		w.name, w.before = name, p.before[name]
	}
	w.version = version
	p.lock[w.name] = manifest.Pin{Version: version, Digest: w.digest}
}

// giveUp removes a wish from the lock file.
func (p *pinning) giveUp(w *wish, reason string) {
	w.failed = reason
	if delete(p.lock, w.name); w.before.Digest != "" {
		p.lock[w.name] = w.before
	}
}
