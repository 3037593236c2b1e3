package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
)

// Examine starts the only plugin in a folder, reads its description, and returns the plugin as a
// toolhost with these options would load it. It does not use the state or the socket of that
// toolhost. If Problem of the result is not empty, the plugin is unusable. granted says that the
// operator has asked to use the plugin, so that an MCP server gets its grants while it is asked.
func Examine(ctx context.Context, options Options, folder string, granted bool) (_ *catalog.Plugin, err error) {
	temp, err := MakeScratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	state := filepath.Join(temp.Path, "state")
	// the plugin's last output is part of the error
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	where := placesOf(options)
	options.State, options.Folders, options.listen, options.listeners = state, []string{folder}, address.Address{}, nil
	runtime, err := openRuntimeDir(ctx, nil, logger)
	if err != nil {
		return nil, err
	}
	defer runtime.close()
	store := openSecrets(options.Secrets, options.getenv, nil)
	launching := runtime.launching(logger)
	launching.Redact, launching.Brief = store.Redactor().Line, true
	launching.Granted = granted
	plugins := launch.New(launching, launch.Settings{Config: &options.Config, Places: where, Secrets: store})
	_, closeLogins := openLogins(state, plugins, store.Redactor(), logger) // nobody is logged in; clients have their own tokens
	defer closeLogins()
	known, err := catalog.Open(catalog.Config{
		Folders: options.Folders, StateDir: state, Describe: plugins.Describe, Logger: logger, Overrides: overrides(options.Tools),
		DescribeTimeout: options.Launch.Timeout,
	})
	if err != nil {
		return nil, err
	}
	defer known.Close()
	if err := known.Load(ctx); err != nil {
		return nil, err
	}
	if err := known.Settle(ctx); err != nil {
		return nil, err
	}
	found := known.Snapshot().Plugins()
	if len(found) != 1 {
		return nil, fmt.Errorf("examining the plugin: %s are in %s", cli.Count(len(found), "plugin"), folder)
	}
	return found[0], nil
}

// CheckExamined returns an error for an unusable plugin. staged is the path where Examine saw the
// plugin. The error shows source instead, the path that the author knows.
func CheckExamined(p *catalog.Plugin, staged, source string) error {
	if p.Problem == "" {
		return nil
	}
	reason := strings.ReplaceAll(p.Problem, staged, source)
	for _, copied := range []string{p.Dir, p.Path} { // the path of a copy tells the author nothing
		if copied != "" && p.Pinned {
			reason = strings.ReplaceAll(reason, copied, source)
		}
	}
	return &cli.ExitError{Code: cli.ExitInfrastructure, Err: fmt.Errorf("%s is refused, and nothing is changed: %s; `toolhost verify %s` may tell more", source, reason, source)}
}

// CheckPlugin returns an error if the path cannot be a plugin. instead is the advice for a user who
// names a repository with the source of a plugin.
func CheckPlugin(path, instead string) error {
	info, err := os.Stat(path)
	if err != nil {
		return cli.Usage("there is no plugin at %s: %w", path, err)
	}
	if !info.IsDir() {
		if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			return cli.Usage("%s is not executable; a plugin is an executable, or a folder with a %s", path, manifest.FileName)
		}
		return nil
	}
	if info, err := os.Stat(filepath.Join(path, manifest.FileName)); err == nil && info.Mode().IsRegular() {
		return nil
	}
	hint := ""
	if _, err := fs.Stat(os.DirFS(path), "Makefile"); err == nil {
		hint = "; if it is the repository of one, " + instead
	}
	return cli.Usage("%s holds no %s; a plugin is an executable, or a folder with a %s%s", path, manifest.FileName, manifest.FileName, hint)
}

// Probe runs processes of one plugin outside a toolhost. It has a runtime directory and a reaper,
// but no state and no socket.
type Probe struct {
	*launch.Launcher
	runtime *runtimeDir
}

// OpenProbe opens a probe that starts plugins with the settings in options. The plugins do not see
// the files of toolhost that options name, nor those that other names, such as the files of a
// running toolhost. The caller closes the probe.
func OpenProbe(ctx context.Context, options, other Options) (*Probe, error) {
	options.listen, options.listeners = address.Address{}, nil // the probe has no socket for the reaper to remove
	logger := slog.New(slog.DiscardHandler)
	runtime, err := openRuntimeDir(ctx, nil, logger)
	if err != nil {
		return nil, err
	}
	where := placesOf(options)
	where.Hidden = append(where.Hidden, placesOf(other).Hidden...)
	return &Probe{launch.New(runtime.launching(logger), launch.Settings{
		Config: &options.Config, Places: where, Secrets: openSecrets(options.Secrets, options.getenv, nil), // only MCP servers get secrets: they may need them to start
	}), runtime}, nil
}

// Close ends the processes and removes the runtime directory.
func (p *Probe) Close() { p.runtime.close() }
