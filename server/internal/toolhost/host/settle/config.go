package settle

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/ledger"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/logbuffer"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

// Config is what a Settler uses of the host.
type Config struct {
	Context   context.Context     // ends when the host closes
	Spawn     func(f func()) bool // runs f in a goroutine of the host; false: the host is closing
	Catalog   *catalog.Catalog
	Plugins   *supervisor.Plugins
	Calls     callstore.Calls // nil: nothing is settled
	Ledger    Ledger
	Logs      *logbuffer.Buffer // gets the log records of tools that are asked
	Audit     *audit.Log        // nil: there is none
	Log       Loggers
	Workspace string // of instances that have none of their own; empty: none

	// Tool returns a tool by its name, if it can say what became of calls, as it is trusted now, and
	// still belongs to the plugin.
	Tool func(name, plugin string) (Tool, bool)
	// Values returns the values for keys that a tool declares of the context of a call.
	Values func(call *tool.Call, keys []string, workspace string) map[string]json.RawMessage
}

// Ledger is what a Settler uses of the calls in memory.
type Ledger interface {
	// Known reports whether a call is in memory, and whether it has ended with an unknown outcome.
	Known(key ledger.Key) (known, unknown bool)
	// Drop makes the memory forget a call that has ended, because the store has more.
	Drop(key ledger.Key)
}

// Loggers are for records about calls, about the audit log, and about the store.
type Loggers struct{ Calls, Policy, Storage *slog.Logger }

// Tool is a tool that can say what became of its calls, with the settings in force. It does not
// change.
type Tool struct {
	*catalog.Tool
	Secrets      *secrets.Store
	MaxTimeout   time.Duration // of every call
	YieldTimeout time.Duration // until an instance ends whose tool ignores a cancel

	// Outcome returns the outcome of a call that happened, as callers get it: the result passes the
	// output schema, the filters and the rules like any other. The instance has said what became of
	// the call. Outcome may need an instance of the plugin.
	Outcome func(e *callstore.Entry, instance string, said tool.Settlement) tool.Outcome
}
