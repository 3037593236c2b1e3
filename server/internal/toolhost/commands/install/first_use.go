package install

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// use makes sure that the trust records have a folder of plugins. If they do not, no toolhost has
// served the folder, and use does what the first start would do: it trusts the plugins that are in
// the folder, and asks them what they are, so that their names belong to them and not to plugins
// that come later. Commands use a folder before they change it.
func (i *Installer) use(ctx context.Context, options serve.Options, folder string) error {
	store := trust.NewUserStore(i.conn.Process.Getenv)
	known, err := store.Known(folder)
	if err != nil || known {
		return err
	}
	sources, err := catalog.Sources(ctx, folder)
	if err != nil {
		return fmt.Errorf("looking at the folder of plugins: %w", err)
	}
	digests := map[string]string{}
	var claims []trust.Claim
	for _, source := range sources {
		p, err := examineAt(ctx, options, source, true)
		if err != nil {
			return fmt.Errorf("asking %s, which is in the folder already: %w", source, err)
		}
		digests[source] = p.Digest
		if p.Problem == "" {
			claims = append(claims, trust.Claim{Path: source, Description: p.Trusted(), First: true})
		}
	}
	if err := store.Begin([]string{folder}, digests); err != nil {
		return err
	}
	_, _, err = store.TrustPlugins(options.Folders, claims)
	return err
}

// keepOwners removes the tools from the result whose names belong to other plugins, and adds notes.
// A toolhost that runs says the same of a plugin that it took over.
func (d *Installed) keepOwners(options serve.Options, records *trust.Plugins) {
	d.Tools = slices.DeleteFunc(d.Tools, func(name string) bool {
		owner := records.Owner(name)
		if owner == "" || owner == trust.RealSource(d.Path) || options.Tools[name].Plugin == d.Plugin {
			return false
		}
		d.Warnings = append(d.Warnings, fmt.Sprintf("the tool %q is left out: the name belongs to %s, which had it first; `tools: {%s: {plugin: %s}}` in toolhost.yaml gives it to this plugin",
			name, owner, name, d.Plugin))
		return true
	})
}

// nameOwned adds advice to the error for a plugin whose name belongs to another one of the folders.
func nameOwned(err error) error {
	if !errors.Is(err, trust.ErrTaken) {
		return err
	}
	return fmt.Errorf("%w; nothing is changed: take that one away first, with `toolhost uninstall`", err)
}
