package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
)

const (
	// settleGrace is the time that the start waits for the descriptions of new plugins. Slower
	// plugins join later.
	settleGrace = 3 * time.Second
	// copiesKept is the least time that the copy of a replaced plugin stays. Its instances run
	// until their calls have ended.
	copiesKept = 15 * time.Minute
)

// openCatalog opens the catalog and loads the plugin folders. The caller closes it.
func openCatalog(ctx context.Context, options Options, plugins *launch.Launcher, logger *slog.Logger) (_ *catalog.Catalog, err error) {
	known, err := catalog.Open(catalog.Config{
		Folders: options.Folders, StateDir: options.State, Describe: plugins.Describe, Logger: logger,
		Trust: options.pluginTrust(), TrustNew: options.NewPlugins == "allow",
		Locked: options.Locked, LockFile: options.LockFile,
		CheckLock: lockTrust(options.getenv, options.lockNamed, writableFolders(&options.Config)), Overrides: overrides(options.Tools),
		DescribeTimeout: options.Launch.Timeout,
		Retention:       cmp.Or(options.Retention, max(copiesKept, options.Calls.MaxTimeout+time.Minute)),
	})
	if err != nil {
		return nil, err
	}
	if err := LoadPlugins(ctx, known, options.Folders, options.settle); err != nil {
		known.Close()
		return nil, err
	}
	recordWritable(&options, logger)
	warnOfUnknownTools(known.Snapshot(), logger)
	if err := warnOfReferences(&options.Config, known.Snapshot(), logger); err != nil {
		known.Close()
		return nil, cli.Usage("%w", err)
	}
	return known, nil
}

// LoadPlugins loads the plugin folders. settle bounds how long it waits for the descriptions of
// slow new plugins, because the other plugins cannot be used meanwhile. A settle of 0 means
// settleGrace.
func LoadPlugins(ctx context.Context, known *catalog.Catalog, folders []string, settle time.Duration) error {
	if err := known.Load(ctx); err != nil {
		if failed, ok := errors.AsType[*fs.PathError](err); ok && slices.Contains(folders, failed.Path) {
			err = fmt.Errorf("%w; name a folder of plugin executables with --plugins", err)
		}
		return err
	}
	wait, cancel := context.WithTimeout(ctx, cmp.Or(settle, settleGrace))
	defer cancel()
	_ = known.Settle(wait) // slower plugins join later
	if err := known.Adopt(); err != nil {
		return fmt.Errorf("taking changed plugins into service: %w", err)
	}
	return ctx.Err()
}

// summary returns the numbers of tools and plugins, and the command that shows problems, if there
// are any.
func summary(found *catalog.Snapshot) string {
	tools, usable, asked, troubled := 0, 0, 0, 0
	for _, p := range found.Plugins() {
		tools += len(p.Tools)
		switch {
		case p.Pending():
			asked++
		case p.Problem != "":
			troubled++
		default:
			usable++
			if len(p.Warnings) > 0 {
				troubled++
			}
		}
	}
	s := fmt.Sprintf("%s of %s", cli.Count(tools, "tool"), cli.Count(usable, "plugin"))
	if asked > 0 {
		s += fmt.Sprintf("; %s not described yet", cli.Count(asked, "new plugin"))
	}
	if troubled > 0 {
		s += fmt.Sprintf("; %s with problems, see `toolhost plugins`", cli.Count(troubled, "plugin"))
	}
	return s
}
