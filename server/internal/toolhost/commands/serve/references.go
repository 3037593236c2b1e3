package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"

	"github.com/toolhost/toolhost/internal/text/nearest"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/credentials"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
)

// checkReferences checks the names of plugins and filters in a configuration. It warns of names
// that no plugin has: such a plugin may come later. The error is that of a filter without which
// every call that has to pass it fails. There is one only if all plugins have declared their
// filters.
func checkReferences(c *config.Config, known catalog.Declared) (warnings []string, err error) {
	plugin := func(key, name string) {
		if name != "" && !known.Plugins[name] {
			warnings = append(warnings, fmt.Sprintf("%s: no plugin %q is there, so that this has no effect%s", key, name, suggest(name, known.Plugins)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.ByPlugin)) {
		plugin("plugin."+name, name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Secrets)) {
		for _, granted := range c.Secrets[name].Plugins {
			plugin("secrets."+name+".plugins", granted)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		plugin("tools."+name+".plugin", c.Tools[name].Plugin)
	}
	var errs []error
	for i, f := range c.Filters {
		if known.Filters[f.Filter] {
			continue
		}
		text := fmt.Sprintf("filters[%d].filter: no plugin has the filter %q", i, f.Filter)
		switch {
		case f.WhenItFails == "skip":
			warnings = append(warnings, text+", so that calls skip it"+suggest(f.Filter, known.Filters))
		case !known.Complete || len(known.Plugins) == 0:
			warnings = append(warnings, text+", so that calls that have to pass it fail"+suggest(f.Filter, known.Filters))
		default:
			errs = append(errs, errors.New(text+", so that every call that has to pass it would fail"+suggest(f.Filter, known.Filters)))
		}
	}
	return warnings, errors.Join(errs...)
}

// suggest returns the known name that resembles a name, as a question; empty if there is none.
func suggest(name string, known map[string]bool) string {
	names := nearest.Names(name, slices.Sorted(maps.Keys(known)), 1)
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + names[0] + "?"
}

// warnOfReferences logs the warnings of checkReferences, and returns its error.
func warnOfReferences(c *config.Config, known *catalog.Snapshot, logger *slog.Logger) error {
	warnings, err := checkReferences(c, known.Declared())
	for _, warning := range warnings {
		logger.Warn("the configuration names what is not there", "reference", warning)
	}
	return err
}

// references checks what a configuration file refers to, for `config check`: folders and files, and
// names that plugins declared to an earlier toolhost. It starts no plugin. The error has what
// `toolhost serve` does not start without.
func references(c *config.Config, getenv func(string) string) (warnings []string, err error) {
	if err := errors.Join(missingFolders(c), authconfig.MissingFiles(c.Listeners, &c.HTTP), c.Nodes.Missing()); err != nil {
		return nil, err
	}
	complete := *c
	if err := resolve(&complete, getenv); err != nil {
		return warnings, err
	}
	warnings = credentials.SamePerson(cli.Toolhost, complete.State, &c.Auth)
	if len(complete.Folders) == 0 {
		complete.Folders = []string{cli.PluginsFolder(getenv)}
	}
	known, err := catalog.ReadDeclared(context.Background(), complete.State, complete.Folders)
	if err != nil {
		return append(warnings, "names of plugins and filters are not checked: "+err.Error()), nil
	}
	if !known.Complete || len(known.Plugins) == 0 {
		return append(warnings, uncheckedNames(&complete)...), nil
	}
	more, err := checkReferences(&complete, known)
	return append(warnings, more...), err
}

// missingFolders says which folders are not there that toolhost does not make.
func missingFolders(c *config.Config) error {
	var errs []error
	missing := func(key, folder string) {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			errs = append(errs, fmt.Errorf("%s: there is no folder %s", key, folder))
		}
	}
	for i, folder := range c.Folders {
		missing(fmt.Sprintf("plugins[%d]", i), folder)
	}
	if folder := c.Workspace.Folder; c.Workspace.Backend == config.LocalBackend && folder != "" {
		missing("workspace.folder", folder)
	}
	return errors.Join(errs...)
}

// uncheckedNames says that the names in a configuration are not checked, if there are any.
func uncheckedNames(c *config.Config) []string {
	if len(c.ByPlugin)+len(c.Filters) == 0 {
		return nil
	}
	return []string{"names of plugins and filters are not checked, because toolhost has not asked all plugins what they are; `toolhost serve` checks them"}
}
