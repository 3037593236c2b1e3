package serve

import (
	"context"

	"github.com/toolhost/toolhost/server/internal/systemd"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/tool"
)

// toldHost is a host that tells systemd what it serves, and when it reloads.
type toldHost struct {
	*host.Host
	service systemd.Service
	known   *catalog.Catalog
}

// ready says that the host accepts calls.
func (h toldHost) ready() { h.service.Ready(h.status()) }

func (h toldHost) status() string { return summary(h.known.Snapshot()) }

// Reload implements hostserver.Host.
func (h toldHost) Reload(ctx context.Context) (tool.Reloaded, error) {
	h.service.Reloading()
	defer h.ready()
	return h.Host.Reload(ctx)
}
