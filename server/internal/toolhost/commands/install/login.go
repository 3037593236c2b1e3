package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// An MCP server that requires a login shows its tools to a toolhost only, because a toolhost has
// the logins and these commands have none. And a toolhost lets nobody log in at a URL that the
// operator does not trust. So the commands trust the plugin.yaml of such a server before its tools
// are known, and the tools as toolhost reads them first. That is what the first start with a folder
// does, too.

// trustAsIs records that a plugin is trusted as it describes itself, or will after a login.
func trustAsIs(store *trust.Store, folders []string, path string, p *catalog.Plugin) error {
	if serve.NeedsLogin(p) {
		return store.TrustUnread(folders, path, p.Info.Name, p.Digest)
	}
	return store.TrustPlugin(folders, path, p.Trusted(), false)
}

// takeOverUnread is takeOver for an MCP server that needs a login. A toolhost has taken it over
// when the login is all that it lacks.
func (i *Installer) takeOverUnread(ctx context.Context, c *client.Client, d *Installed) (reason string, err error) {
	own, err := c.Admin().LockFile(ctx)
	if err != nil {
		return "", err
	}
	getenv := i.conn.Process.Getenv
	before, err := serve.ReadLock(getenv, own.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if d.LockFile, err = pin(getenv, own.Path, d.Plugin, &manifest.Pin{Digest: d.Digest}); err != nil {
		return "", err
	}
	done, plugin, err := i.load(ctx, c, d.Path)
	switch {
	case err != nil:
	case plugin == nil:
		reason = "it is gone"
	case plugin.Digest == d.Digest && !plugin.State.Off(): // an operator is logged in already
		d.serves(plugin)
		return "", nil
	case plugin.Digest == d.Digest && serve.LacksLogin(d.Plugin, plugin.Reason):
		d.note = "log in, so that toolhost can read its tools: " + serve.LoginCommand(d.Plugin)
		return "", nil
	default:
		reason = cmp.Or(failureOf(done, plugin.Name), plugin.Reason, refusalOf(plugin), "it is not known why")
		if d.Replaced {
			reason += "; a server that needs a login replaces no other plugin: remove that first, with `toolhost uninstall " + d.Plugin + "`"
		}
	}
	var pinned *manifest.Pin
	if was, known := before[d.Plugin]; known {
		pinned = &was
	}
	_, undone := pin(getenv, own.Path, d.Plugin, pinned)
	return reason, errors.Join(err, undone)
}

// unread trusts an MCP server that needs a login, or shows it. What its tools are, a toolhost that
// runs knows. before is its record; nil if it has none.
func (t *truster) unread(ctx context.Context, options serve.Options, source string, p *catalog.Plugin, before *trust.Plugin, look bool) (pluginTrust, error) {
	shown := pluginTrust{Plugin: p.Info.Name, Path: source, Digest: p.Digest, State: "trusted"}
	if !look {
		shown.Changes = []string{fmt.Sprintf("its tools are trusted as toolhost reads them first; if nobody is logged in, run `%s`", serve.LoginCommand(shown.Plugin))}
		err := t.expects(source, p.Digest)
		if err == nil {
			err = nameOwned(t.store.TrustUnread(options.Folders, source, p.Info.Name, p.Digest))
		}
		return shown, err
	}
	switch {
	case before == nil:
		shown.State = "new"
		shown.Changes = []string{fmt.Sprintf("an MCP server at %s; its tools can be read after it is trusted, with a login", p.Manifest.MCP.URL)}
	case before.Digest != p.Digest:
		shown.State = "changed"
		shown.Changes = []string{fmt.Sprintf("its plugin.yaml, with the URL %s; its tools can be read with a login only", p.Manifest.MCP.URL)}
	default:
		if shown.Changes = t.noticed(ctx, source); len(shown.Changes) > 0 {
			shown.State = "changed"
		}
	}
	return shown, nil
}

// noticed returns the changes of a plugin that a toolhost that runs does not put into service
// before they are trusted. It returns none if no toolhost runs.
func (t *truster) noticed(ctx context.Context, source string) (changes []string) {
	_ = t.conn.With(func(c *client.Client) error {
		var plugin *tool.PluginInfo
		plugin, err := at(ctx, c, source)
		if plugin == nil {
			return err
		}
		for _, warning := range plugin.Warnings {
			if strings.Contains(warning, "toolhost trust ") {
				changes = append(changes, warning)
			}
		}
		return nil
	})
	return changes
}
