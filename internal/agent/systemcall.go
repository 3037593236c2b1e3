package agent

import (
	"github.com/toolhost/toolhost/internal/agent/loop"
	"github.com/toolhost/toolhost/tool"
)

// callSystem has a call of one of the agent's own tools carried out, where the state alone does not answer it. The
// goroutine belongs to the run and ends with its task.
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
