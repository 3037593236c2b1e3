package agent

import (
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/tool"
)

// callSystem carries out a call of a system tool that the state alone cannot answer. Its goroutine
// belongs to the run and ends with the task.
func (r *run) callSystem(t *task, c loop.Call) {
	switch c.System {
	case loop.SystemNewTask:
		r.subRun(t, c)
	case loop.SystemToolSearch:
		r.searchTools(t, c)
	default:
		unknown := tool.Errorf(tool.KindNotFound, "this agentd has no system tool %q", loop.Clip(c.System))
		r.group.Go(func() {
			r.report(update{task: t, done: func() loop.Payload { return loop.FailureResult(&c, unknown) }})
		})
	}
}
