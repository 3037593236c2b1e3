package supervisor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/tool"
)

// ErrStopping is the cause of everything that ends because the host closes.
var ErrStopping = errors.New("toolhost is stopping")

// Config sets the dependencies of Plugins. Every field but History and Redactor is required.
type Config struct {
	Context  context.Context   // ends with the cause ErrStopping when the host closes
	Spawn    func(func()) bool // runs a goroutine of the host; false: the host is closed
	Catalog  *catalog.Catalog  // not owned
	Launch   LaunchFunc        // starts a process
	Settings func() Settings   // the settings in force; see Plugins.Reconfigure
	Logger   *slog.Logger
	History  *history.Log      // events and exits that outlive the host; nil: none do
	Redactor *secrets.Redactor // redacts errors and exits; nil: there are no secrets

	MaxLaunches int // processes that start at the same time
	MaxExits    int // exits that are kept for each plugin
	MaxEvents   int // events that are kept
}

// Settings are the part of the configuration that can change. Every field but Observer, Quotas and
// MayLaunch is required.
type Settings struct {
	Lifecycle     func(plugin string) lifecycle.Config
	Disabled      func(plugin string) bool // whether the operator disabled a plugin
	Observer      Observer                 // hears of plugins and instances; nil: nothing is reported
	LaunchTimeout time.Duration            // from the launch of a process until it takes calls
	// Quotas has the quotas of processes and memory. Nil: there are none.
	Quotas *throttle.Quotas
	// MayLaunch counts a process that starts for a tenant, or returns why none may start. Nil: no
	// launch is refused.
	MayLaunch func(tenant string) *tool.Error
}
