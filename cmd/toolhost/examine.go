package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/cli"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
)

// examine starts the only plugin in a folder, asks it what it is, and returns what a toolhost with these options would make
// of it. Nothing of that toolhost is touched: neither its state nor its socket. The plugin is unusable if its Problem says so.
func examine(ctx context.Context, options serveOptions, folder string) (_ *catalog.Plugin, err error) {
	temp, err := makeScratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, temp.remove()) }()
	state := filepath.Join(temp.path, "state")
	logger := slog.New(slog.NewTextHandler(io.Discard, nil)) // what the plugin says last is part of why it failed
	own := groundsOf(options)
	options.State, options.Folders, options.listen = state, []string{folder}, address.Address{}
	yard, err := openYard(ctx, options, logger)
	if err != nil {
		return nil, err
	}
	defer yard.close()
	plugins := &launcher{
		runDir: yard.runDir.Path(), guard: yard.guard, groups: yard.groups, names: yard.names, logger: logger, config: &options.Config,
		redact: openSecrets(options.Secrets, options.getenv).Redactor().Line, own: own, brief: true,
	}
	known, err := catalog.Open(catalog.Config{
		Folders: options.Folders, StateDir: state, Describe: plugins.describe, Logger: logger, Overrides: overrides(options.Tools),
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
		return nil, fmt.Errorf("examining the plugin: %s are in %s", count(len(found), "plugin"), folder)
	}
	return found[0], nil
}

// refused says why a plugin is not good enough, in words of what its author sees. Staged is where it was examined, source
// where it is the author's.
func refused(p *catalog.Plugin, staged, source string) error {
	if p.Problem == "" {
		return nil
	}
	reason := strings.ReplaceAll(p.Problem, staged, source)
	for _, copied := range []string{p.Dir, p.Path} { // of one that was copied, from which nobody learns anything
		if copied != "" && p.Pinned {
			reason = strings.ReplaceAll(reason, copied, source)
		}
	}
	return &cli.ExitError{Code: cli.ExitInfrastructure, Err: fmt.Errorf("%s is refused, and nothing is changed: %s; `toolhost verify %s` may tell more", source, reason, source)}
}
