package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/commands/serve"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// pluginTrust is a plugin and its trust, as -o json prints it.
type pluginTrust struct {
	Plugin  string   `json:"plugin"`
	Path    string   `json:"path"`
	Digest  string   `json:"digest"`
	State   string   `json:"state"` // trusted, changed, new or revoked
	Tools   []string `json:"tools,omitempty"`
	Changes []string `json:"changes,omitempty"` // since the operator trusted the plugin
}

func (p pluginTrust) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (%s", p.State, cli.OneLine(p.Plugin), cli.OneLine(p.Path))
	if p.Digest != "" {
		b.WriteString(", " + cli.ShortDigest(p.Digest))
	}
	b.WriteByte(')')
	if len(p.Tools) > 0 {
		fmt.Fprintf(&b, ": %s", strings.Join(p.Tools, ", "))
	}
	b.WriteByte('\n')
	for _, change := range p.Changes {
		fmt.Fprintf(&b, "  %s\n", cli.OneLine(change))
	}
	return b.String()
}

// listPlugins adds all trusted plugins to the view.
func (t *truster) listPlugins(v *trustView) error {
	all, err := t.store.AllPlugins()
	for _, known := range all {
		shown := pluginTrust{Plugin: known.Name, Path: known.Path, Digest: known.Digest, State: "trusted", Tools: slices.Sorted(maps.Keys(known.Tools))}
		if shown.Plugin == "" {
			shown.Plugin = filepath.Base(known.Path)
		}
		v.Plugins = append(v.Plugins, shown)
	}
	return err
}

// namedPlugins trusts the named plugins as they are in their folders, or shows them, or revokes
// their trust. It makes a running toolhost reload.
func (t *truster) namedPlugins(ctx context.Context, v *trustView, names []string, look, revoke bool) error {
	if len(names) == 0 {
		return nil
	}
	options, err := t.folderOptions()
	if err != nil {
		return err
	}
	for _, name := range names {
		having, source, err := t.locate(options, name)
		if err != nil {
			return err
		}
		shown, err := t.plugin(ctx, having, source, look, revoke)
		if err != nil {
			return err
		}
		v.Plugins = append(v.Plugins, shown)
	}
	if look {
		return nil
	}
	t.takenOver(ctx, v)
	return nil
}

// takenOver makes a running toolhost reload. If that fails, it adds a note.
func (t *truster) takenOver(ctx context.Context, v *trustView) {
	err := t.conn.Change(func(c *client.Client) error {
		_, err := c.Admin().ReloadPlugins(ctx)
		return err
	})
	if err != nil && cli.CodeOf(err) != cli.ExitNoServer {
		v.note = fmt.Sprintf("a toolhost that runs did not take it over: %v", err)
	}
}

// all trusts all plugins in the folders as they are now. A plugin that cannot be used does not keep
// the others from being trusted.
func (t *truster) all(ctx context.Context) (*trustView, error) {
	v := &trustView{Files: []fileTrust{}, Plugins: []pluginTrust{}, nothing: "there is no plugin in the folders"}
	options, err := t.folderOptions()
	if err != nil {
		return nil, err
	}
	for _, folder := range options.Folders {
		sources, err := catalog.Sources(ctx, folder)
		if err != nil {
			return nil, fmt.Errorf("looking at the plugins: %w", err)
		}
		for _, source := range sources {
			shown, err := t.plugin(ctx, options, source, false, false)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				v.failed = errors.Join(v.failed, err)
				continue
			}
			v.Plugins = append(v.Plugins, shown)
		}
	}
	t.takenOver(ctx, v)
	return v, nil
}

// locate returns the path of the plugin with a name, and options with the folder that has it.
// Without --plugins that may be any folder that a toolhost of the user has used: one that runs with
// --plugins tells its operator to trust a plugin by its name. The operator has to name a folder
// that tools may write, because a tool could offer its own plugin there.
func (t *truster) locate(options serve.Options, name string) (serve.Options, string, error) {
	if err := tool.CheckName(name); err != nil {
		return options, "", cli.Usage("%w; write ./%s if it is a file or folder", err, name)
	}
	source, err := t.source(options, name)
	if err != nil || source != "" {
		return options, source, err
	}
	missing := cli.Usage("there is no plugin %s in %s; name its folder with --plugins, or a configuration file by its path",
		name, strings.Join(options.Folders, ", "))
	if t.plugins != "" {
		return options, "", missing
	}
	used, err := t.store.PluginFolders()
	if err != nil {
		return options, "", err
	}
	var having []string
	for _, folder := range used {
		options.Folders = []string{folder}
		found, err := t.source(options, name)
		if err != nil {
			return options, "", err
		}
		if found != "" {
			source, having = found, append(having, folder)
		}
	}
	switch len(having) {
	case 0:
		return options, "", missing
	case 1:
		if writable, err := t.store.Writable(having[0]); err != nil || writable != "" {
			return options, "", errors.Join(err, cli.Usage("there is a plugin %s in %s, but tools may write in %s, or could earlier; look at it, and name the folder: toolhost trust --plugins %s %s",
				name, having[0], writable, trust.Quote(having[0]), name))
		}
		options.Folders = having
		return options, source, nil
	default:
		return options, "", cli.Usage("there is a plugin %s in %s; name one of these folders with --plugins", name, strings.Join(having, ", "))
	}
}

// source returns the path of the plugin with a name: the path that was trusted under the name, else
// the file or folder of that name, else the folder whose manifest declares the name, else nothing.
func (t *truster) source(options serve.Options, name string) (string, error) {
	known, err := t.store.Plugins(options.Folders)
	if err != nil {
		return "", err
	}
	if source := known.Named(name); source != "" {
		return source, nil
	}
	for _, folder := range options.Folders {
		if path := filepath.Join(folder, name); serve.Exists(path) {
			return path, nil
		}
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("looking for the plugin %s: %w", name, err)
		}
		for _, entry := range entries {
			path := filepath.Join(folder, entry.Name())
			data, err := os.ReadFile(filepath.Join(path, manifest.FileName))
			if err != nil || len(data) > manifest.MaxSize {
				continue
			}
			if m, err := manifest.Parse(path, data); err == nil && m.Name == name {
				return path, nil
			}
		}
	}
	return "", nil
}

// plugin trusts one plugin, or shows it, or revokes its trust.
func (t *truster) plugin(ctx context.Context, options serve.Options, source string, look, revoke bool) (pluginTrust, error) {
	records, err := t.store.Plugins(options.Folders)
	if err != nil {
		return pluginTrust{}, err
	}
	before := records.Source(source)
	if revoke {
		if before == nil {
			return pluginTrust{}, cli.Usage("the plugin %s was not trusted", source)
		}
		_, err := t.store.RevokePlugin(source)
		return pluginTrust{Plugin: before.Name, Path: source, Digest: before.Digest, State: "revoked"}, err
	}
	if !look {
		if err := t.use(ctx, options, filepath.Dir(source)); err != nil {
			return pluginTrust{}, err
		}
	}
	granted := !look || before != nil && before.Exact == "" && !trust.HasOtherNames(source) // a toolhost would use what is there
	p, err := examineAt(ctx, options, source, granted)
	if err == nil && serve.NeedsLogin(p) {
		return t.unread(ctx, options, source, p, before, look)
	}
	if err == nil {
		err = serve.CheckExamined(p, p.Source, source)
	}
	if err != nil {
		return pluginTrust{}, err
	}
	now := p.Trusted()
	shown := pluginTrust{Plugin: now.Name, Path: source, Digest: now.Digest, State: "trusted", Tools: slices.Sorted(maps.Keys(now.Tools)), Changes: changesOf(p, before)}
	switch {
	case !look:
		if err = t.expects(source, now.Digest); err == nil {
			err = t.store.TrustPlugin(options.Folders, source, now, false)
		}
	case before == nil || before.Name == "":
		shown.State = "new"
	case before.Digest != now.Digest || len(shown.Changes) > 0:
		shown.State = "changed"
	}
	return shown, err
}

// examineAt starts the plugin at a path, reads its description, and returns the plugin as a
// toolhost would load it alone. Its Source is another path. If Problem is not empty, the plugin is
// unusable. granted is as for Examine.
func examineAt(ctx context.Context, options serve.Options, source string, granted bool) (p *catalog.Plugin, err error) {
	temp, err := serve.MakeScratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	folder := filepath.Join(temp.Path, "plugins")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the plugin: %w", err)
	}
	staged := filepath.Join(folder, filepath.Base(source))
	if err := os.Symlink(source, staged); err != nil {
		return nil, fmt.Errorf("making a folder for the plugin: %w", err)
	}
	return serve.Examine(ctx, options, folder, granted)
}

// changesOf returns the declarations of a plugin that the operator has not trusted.
func changesOf(p *catalog.Plugin, before *trust.Plugin) []string {
	if before == nil || before.Name == "" {
		return nil
	}
	var changes []string
	if before.Name != p.Info.Name {
		changes = append(changes, fmt.Sprintf("the plugin's name is %s, and was %s", p.Info.Name, before.Name))
	}
	now := p.Trusted()
	for _, spec := range p.Info.Tools {
		was, trusted := before.Tools[spec.Name]
		if len(spec.Tags) == 0 {
			spec.Tags = p.Info.DefaultTags
		}
		_, relaxed := was.Bound(spec, trusted)
		relaxed = append(relaxed, was.FilterChanges(now.Tools[spec.Name])...)
		switch {
		case len(relaxed) > 0:
			changes = append(changes, fmt.Sprintf("the tool %s: %s", spec.Name, strings.Join(relaxed, ", ")))
		case was.Definition != now.Tools[spec.Name].Definition:
			changes = append(changes, fmt.Sprintf("the tool %s: another definition", spec.Name))
		default:
			continue
		}
		changes = append(changes, definitionDiff(spec.Name, was.Text, now.Tools[spec.Name].Text)...)
	}
	for _, name := range slices.Sorted(maps.Keys(before.Tools)) {
		if _, still := now.Tools[name]; !still {
			changes = append(changes, fmt.Sprintf("the tool %s: gone", name))
		}
	}
	for _, ask := range now.Asks {
		if !slices.Contains(before.Asks, ask) {
			changes = append(changes, "asks for "+ask)
		}
	}
	return changes
}
