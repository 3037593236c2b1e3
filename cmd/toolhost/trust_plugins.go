package main

import (
	"context"

	"github.com/toolhost/toolhost/internal/cli"
)

// pluginTrust is a plugin.
type pluginTrust struct{}

func (p pluginTrust) text() string { return "" }

func (t *truster) listPlugins(v *trustView) error { return nil }

func (t *truster) changedPlugins(ctx context.Context, v *trustView) error { return nil }

func (t *truster) namedPlugins(ctx context.Context, v *trustView, names []string, look, revoke bool) error {
	if len(names) > 0 {
		return cli.Usage("there is no plugin %s", names[0])
	}
	return nil
}
