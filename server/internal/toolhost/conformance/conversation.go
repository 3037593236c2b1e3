package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/tool"
)

// maxLaunches bounds how often the plugin is started again after a call has ended it.
const maxLaunches = 8

// conversation makes all calls of one examination. It starts the plugin again when a call has ended
// it.
type conversation struct {
	x        *examiner
	t        *trial // nil: the last process is gone
	launches int
}

// converse makes calls, and shuts the plugin down after them.
func (x *examiner) converse(ctx context.Context, t *trial) {
	c := &conversation{x: x, t: t, launches: 1}
	defer c.close(ctx)
	if !c.open(ctx) {
		x.unreached = "no calls could be made: see stream.open"
		return
	}
	c.probe(ctx, "stream.unknown_tool", c.callUnknownTool)
	c.probe(ctx, "stream.incomplete", c.leaveIncomplete)
	c.probe(ctx, "stream.ended", c.disturbEnded)
	c.probe(ctx, "stream.unknown_frames", c.sendUnknownFrames)
	found, passed := x.targets()
	c.callTools(ctx, found, passed)
}

// open opens the stream of a process, and waits until the plugin answers.
func (c *conversation) open(ctx context.Context) bool {
	if err := c.t.open(ctx); err != nil {
		c.x.findings.fail("stream.open", "", "%s", words(err))
		return false
	}
	if _, err := c.t.unknownTool(ctx); err != nil {
		if broken := c.t.broken(); broken != "" {
			c.x.findings.fail("stream.open", "", "%s", broken)
			c.drop()
			return false
		}
	}
	c.x.findings.pass("stream.open", "")
	return true
}

// probe runs a test of the plugin. The check fails if the plugin does not survive the test.
func (c *conversation) probe(ctx context.Context, check string, do func(ctx context.Context, t *trial)) {
	if ctx.Err() != nil || !c.revive(ctx, check) {
		return
	}
	t := c.t
	do(ctx, t)
	if c.t != t {
		return // the examiner has stopped the process
	}
	if broken := t.broken(); broken != "" {
		c.x.findings.fail(check, "", "%s", broken)
		c.drop()
	}
}

// revive starts the plugin again if it does not run.
func (c *conversation) revive(ctx context.Context, check string) bool {
	if c.t != nil {
		return true
	}
	if c.launches == maxLaunches {
		c.x.findings.skip(check, "calls have ended the plugin too often")
		return false
	}
	c.launches++
	if c.t = c.x.another(ctx, check); c.t == nil {
		return false
	}
	if err := c.t.open(ctx); err != nil {
		c.x.findings.skip(check, "the stream did not open again: %s", words(err))
		c.drop()
		return false
	}
	return true
}

// drop ends a process that the examination cannot use any more, and judges what the process sent.
func (c *conversation) drop() {
	c.t.end()
	c.x.remember(c.t)
	c.harvest(c.t)
	c.t = nil
}

// close judges the end of the last process.
func (c *conversation) close(ctx context.Context) {
	if ctx.Err() != nil {
		if c.t != nil {
			c.t.end()
		}
		return
	}
	if c.t == nil {
		if c.t = c.x.another(ctx, "end.shutdown"); c.t == nil {
			return
		}
	}
	c.x.shutDown(ctx, c.t)
	c.harvest(c.t)
}

// harvest records the problems of the calls of a process that has ended.
func (c *conversation) harvest(t *trial) {
	if t.stream == nil {
		return
	}
	if t.stream.strays > 0 {
		c.x.findings.fail("calls.end", "", "it sent %d frames for calls that never were", t.stream.strays)
	}
	for _, call := range t.stream.all() {
		call.mu.Lock()
		problems := call.problems
		for check, looked := range map[string]bool{
			"calls.end": call.end != nil, "calls.statuses": call.state != 0 || call.progress > 0, "calls.logs": call.logged,
			"results.content": call.end.GetResult() != nil, "results.chunks": call.chunked > 0,
		} {
			if looked {
				c.x.findings.pass(check, "")
			}
		}
		call.mu.Unlock()
		for _, p := range problems {
			c.x.findings.fail(p.check, call.tool, "%s", p.text)
		}
	}
	c.x.findings.skip("calls.statuses", "no call sent a status")
	c.x.findings.skip("calls.logs", "no call sent a log record")
	c.x.findings.skip("results.content", "no call ended with a result")
	c.x.findings.skip("results.chunks", "no result was larger than 64 KiB")
}

// broken says why the stream of a process has ended, or returns "" if it has not.
func (t *trial) broken() string {
	problem := t.stream.problem()
	if problem == nil {
		return ""
	}
	if t.exitsWithin(exitGrace) {
		return "the process ended: " + t.ending()
	}
	return problem.Error()
}

// unknownTool calls a tool that no plugin has, and returns the kind of the error. It returns an
// error if the call does not end.
func (t *trial) unknownTool(ctx context.Context) (tool.Kind, error) {
	c, err := t.stream.begin(t.x.call(unknownToolName, []byte("{}")))
	if err != nil {
		<-t.stream.done // sending fails only after the stream has ended: wait for the reason
		return "", err
	}
	if !c.wait(ctx, t.x.cfg.Timeout) {
		return "", errNoEnd
	}
	if result, _ := c.isResult(); result {
		return "", nil
	}
	return c.kind(), nil
}

var errNoEnd = errors.New("the call did not end")

// barrier reports whether the call is still open after the plugin has read all earlier frames.
func (t *trial) barrier(ctx context.Context, c *call) (open bool) {
	_, _ = t.unknownTool(ctx)
	return !c.over()
}

// ends reports whether a call ends in time. If it does not, although the plugin still runs, the
// check fails and the process is ended.
func (c *conversation) ends(ctx context.Context, t *trial, one *call, check string) bool {
	if one.wait(ctx, c.x.cfg.Timeout) {
		return true
	}
	if t.stream.problem() == nil && ctx.Err() == nil {
		c.x.findings.fail(check, one.tool, "it did not end within %v", c.x.cfg.Timeout)
		c.drop() // other tests would wait for what this call holds
	}
	return false
}

func (c *conversation) callUnknownTool(ctx context.Context, t *trial) {
	const check = "stream.unknown_tool"
	one, err := t.stream.begin(c.x.call(unknownToolName, []byte("{}")))
	if err != nil || !c.ends(ctx, t, one, check) {
		return
	}
	if one.kind() != tool.KindNotFound {
		c.x.findings.fail(check, "", "it ended with %s", one.outcome())
	}
	c.x.findings.pass(check, "")
}

func (c *conversation) leaveIncomplete(ctx context.Context, t *trial) {
	const check = "stream.incomplete"
	name := c.x.anyTool()
	one, err := t.stream.begin(c.x.incomplete(name))
	if err != nil {
		return
	}
	if name == unknownToolName {
		c.x.findings.skip(check, "it has no tool")
		c.x.findings.skip("stream.cancel_incomplete", "it has no tool")
		return
	}
	if _, err := t.unknownTool(ctx); err != nil {
		if t.stream.problem() == nil {
			c.x.findings.fail(check, name, "while the arguments of a call were still to come, another got no answer: %v", err)
			c.drop()
		}
		return
	}
	if one.over() {
		c.x.findings.fail(check, name, "a call whose arguments were {, with more to come, ended with %s", one.outcome())
		return
	}
	c.x.findings.pass(check, "")
	if one.cancel() == nil && c.ends(ctx, t, one, "stream.cancel_incomplete") {
		if result, isError := one.isResult(); result && !isError {
			c.x.findings.fail("stream.cancel_incomplete", name, "it ended with a result, although nothing was to be executed")
		}
		c.x.findings.pass("stream.cancel_incomplete", "")
	}
}

func (c *conversation) disturbEnded(ctx context.Context, t *trial) {
	const check = "stream.ended"
	one, err := t.stream.begin(c.x.call(unknownToolName, []byte("{}")))
	if err != nil || !c.ends(ctx, t, one, check) {
		return
	}
	if errors.Join(one.append([]byte("more")), one.complete(nil), one.cancel(), t.stream.grant(one, 1)) != nil {
		return
	}
	if _, err := t.unknownTool(ctx); err != nil && t.stream.problem() == nil {
		c.x.findings.fail(check, "", "after frames for a call that had ended, %v", err)
	}
	c.x.findings.pass(check, "")
}

func (c *conversation) sendUnknownFrames(ctx context.Context, t *trial) {
	const check = "stream.unknown_frames"
	one, err := t.stream.begin(c.x.incomplete(c.x.anyTool()))
	if err != nil || t.stream.sendUnknown(one.number) != nil || t.stream.sendUnknown(0) != nil {
		return
	}
	_, err = t.unknownTool(ctx)
	if err != nil && t.stream.problem() == nil {
		c.x.findings.fail(check, "", "after a frame that it cannot know, %v", err)
	}
	c.x.findings.pass(check, "")
	_ = one.cancel()
}

func (x *examiner) nextCall() string { return fmt.Sprintf("verify-%d", x.calls.Add(1)) }
