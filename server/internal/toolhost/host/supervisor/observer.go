package supervisor

import (
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Observer receives reports about plugins and their instances. The supervisor may hold its mutex
// when it calls the methods. So they must not block and must not use the supervisor. They must be
// safe for concurrent use.
type Observer interface {
	// PluginEvent reports every event of the event log, in order.
	PluginEvent(event tool.PluginEvent)
	// InstanceReady reports that an instance begins to take calls. took is the duration of its
	// launch, including the wait for other launches.
	InstanceReady(plugin string, took time.Duration)
	// InstanceEnded reports how an instance ended, and the processor time that it used. It also
	// reports an instance that never took calls.
	InstanceEnded(plugin string, exit tool.PluginExit, cpu time.Duration)
	// LaunchFailed reports an instance that ended before it took calls.
	LaunchFailed(plugin string, err *tool.Error)
}
