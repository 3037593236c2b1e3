// Package operator shows plugins, their instances, logs, events and statistics to operators, and
// carries out their commands. It decides nothing about calls, and launches no process: package
// supervisor does what a command says.
package operator

import (
	"context"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/logbuffer"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/statistics"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

// Settings are those in force for plugins. They do not change, and all functions are set.
type Settings struct {
	Lifecycle func(plugin string) lifecycle.Config
	Sandbox   func(plugin string) tool.Sandbox
	Variables func(plugin string) []string
	Disabled  func(plugin string) bool
}

// Config is what an Operator uses of the host.
type Config struct {
	Context       context.Context // ends when the host closes
	Settings      func() *Settings
	Catalog       *catalog.Catalog
	Plugins       *supervisor.Plugins
	Upgrades      *supervisor.Upgrades // of Plugins
	Statistics    *statistics.Statistics
	History       *history.Log // nil: none
	Logs          *logbuffer.Buffer
	Configuration Configuration // nil: there is no file
}

// Operator is the part of a host for operators. All methods are safe for concurrent use, and their
// errors are *tool.Error.
type Operator struct{ cfg Config }

// New returns an Operator. It starts nothing.
func New(cfg Config) *Operator { return &Operator{cfg} }
