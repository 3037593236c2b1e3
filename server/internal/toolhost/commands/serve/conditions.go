package serve

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/logging"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/operator"
	"github.com/toolhost/toolhost/tool"
)

// conditions has the sources of what an operator should know about toolhost itself.
//
// A condition is a problem if calls fail or records are lost because of it now, or if the next
// start would fail: a monitor that runs `toolhost status` should then alert a person. A collector
// that does not answer is no problem, because all toolhosts that export to it have the condition at
// the same time, and none of them can help it.
type conditions struct {
	calls         ledgerOfCalls
	decisions     *audit.Log
	log           *logging.Log
	exported      exports
	configuration operator.Configuration // nil: no file can change the configuration
}

// list returns the conditions that hold now.
func (c *conditions) list() (found []tool.Condition) {
	add := func(name string, problem bool, format string, args ...any) {
		found = append(found, tool.Condition{Name: name, Problem: problem, Message: fmt.Sprintf(format, args...)})
	}
	if ids, most := c.calls.IDs(); ids >= most {
		add("ledger_full", true, "the ledger is full (%s): calls with side effects and an id are refused; raise ledger.max_ids", cli.Count(ids, "call"))
	}
	if shared, ok := c.calls.(*postgres.Store); ok && !shared.Unreachable().IsZero() {
		add("ledger_unreachable", true, "the database of the ledger, %s, does not answer since %s: calls with side effects and an id are refused",
			shared.Name(), shared.Unreachable().UTC().Format(time.RFC3339))
	}
	if err := c.decisions.Failure(); err != nil {
		add("audit_failing", true, "calls and commands that the audit log has to record are refused: %v", err)
	}
	if lost := c.log.Lost(); lost > 0 {
		add("log_dropped", true, "%s of the log are lost, the last ones a few minutes ago or now: standard error is read too slowly", cli.Count(lost, "record"))
	}
	if signals := c.exported.Failing(); len(signals) > 0 {
		add("export_failing", false, "the collector does not take telemetry (%s); calls continue", strings.Join(signals, ", "))
	}
	if c.configuration == nil {
		return found
	}
	// The message says nothing of what is in the file: to see plugins is not enough to see the file.
	switch change := c.configuration.Diff(); {
	case change == nil:
	case change.Problem != "":
		add("configuration_refused", true, "toolhost does not use %s as it is now, and would not start with it; `toolhost config diff` says why", change.File)
	default:
		add("configuration_changed", false, "%s has %s that toolhost does not use yet; `toolhost config diff` shows them", change.File, cli.Count(len(change.Changes), "changed setting"))
	}
	return found
}
