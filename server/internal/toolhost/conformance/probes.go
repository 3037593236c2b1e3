package conformance

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// primaryChecks are the checks that repeated calls of one tool can fail.
var primaryChecks = [...]string{
	"calls.pieces", "calls.replaced", "calls.side_by_side", "calls.garbage", "calls.large_arguments", "flow.credit", "flow.waiting", "flow.cancel", "flow.deadline",
}

// guessedTime bounds a call whose arguments were made from the schema. Its duration is unknown.
const guessedTime = 2 * time.Second

// callTools calls the tools that may be called.
func (c *conversation) callTools(ctx context.Context, found []target, passed map[string]string) {
	if len(found) == 0 {
		why := "it has no tools"
		for _, name := range slices.Sorted(maps.Keys(passed)) {
			why = "no tool could be called: of " + name + ", " + passed[name]
			break
		}
		for _, check := range append(primaryChecks[:], "calls.executed", "calls.previews", "results.schema",
			"settle.answer", "settle.unused", "settle.executed", "settle.undeclared") {
			c.x.findings.skip(check, "%s", why)
		}
		return
	}
	var primary *target
	for i := range found {
		usable := false
		c.probe(ctx, "calls.executed", func(ctx context.Context, t *trial) { usable = c.execute(ctx, t, &found[i]) })
		if usable && found[i].again && primary == nil {
			primary = &found[i]
		}
	}
	c.preview(ctx, found)
	c.settle(ctx, found)
	c.x.findings.skip("results.schema", "no tool with an output schema gave a structured result")
	if primary == nil {
		for _, check := range primaryChecks {
			c.x.findings.skip(check, "no call went well of a tool that may be called again: one that is read_only or idempotent, or the one that --tool names")
		}
		return
	}
	c.callAgain(ctx, primary)
}

// execute calls a tool with each of its arguments. It reports whether all calls ended as required.
func (c *conversation) execute(ctx context.Context, t *trial, to *target) (usable bool) {
	if !slices.Contains(c.x.called, to.spec.Name) {
		c.x.called = append(c.x.called, to.spec.Name)
	}
	limit := c.x.cfg.Timeout
	if to.guessed {
		limit = min(limit, guessedTime)
	}
	for _, arguments := range to.arguments {
		start := c.x.call(to.spec.Name, arguments)
		start.Timeout = toolpb.FromDuration(limit)
		one, err := t.stream.begin(start)
		if err != nil {
			return false
		}
		if !one.wait(ctx, limit) {
			if t.stream.problem() == nil && ctx.Err() == nil {
				c.overdue(ctx, t, one, to, limit)
			}
			return false
		}
		if !c.judgeOutcome(one, to) {
			return false
		}
		if result, isError := one.isResult(); result && !isError {
			to.executed = start
		}
	}
	return true
}

// judgeOutcome judges the end of a call with valid arguments.
func (c *conversation) judgeOutcome(one *call, to *target) bool {
	const check = "calls.executed"
	switch kind := one.kind(); kind {
	case "", tool.KindUnavailable, tool.KindDenied, tool.KindRateLimited:
		c.x.findings.pass(check, "")
	default:
		if to.guessed { // the tool may refuse guessed arguments
			c.x.findings.pass(check, "")
			return false
		}
		c.x.findings.fail(check, to.spec.Name, "called with valid arguments, it ended with %s", one.outcome())
		return false
	}
	c.judgeStructure(one, to)
	return true
}

// judgeStructure judges the structured part of a result, or of one in a settlement, by the output
// schema of the tool.
func (c *conversation) judgeStructure(one *call, to *target) {
	text := one.structured()
	if !validJSON(text) || len(to.spec.OutputSchema) == 0 {
		return
	}
	schema, err := arguments.Compile(to.spec.OutputSchema)
	if err != nil {
		return
	}
	value, err := arguments.ParseValue(text)
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		c.x.findings.fail("results.schema", to.spec.Name, "its result %s does not fit: %v", quote(string(text)), err)
	}
	c.x.findings.pass("results.schema", "")
}

// overdue judges a call that has not ended within its time.
func (c *conversation) overdue(ctx context.Context, t *trial, one *call, to *target, limit time.Duration) {
	grace := c.x.grace()
	if one.wait(ctx, grace) {
		c.x.findings.pass("flow.deadline", "")
		if to.guessed {
			c.x.findings.pass("calls.executed", "")
			return
		}
		c.x.findings.fail("calls.executed", one.tool, "it did not end within %v, then with %s; allow more time with --timeout, or choose other arguments with --tool and --arguments", limit, one.outcome())
		return
	}
	if t.stream.problem() != nil || ctx.Err() != nil {
		return
	}
	if !t.alive(ctx) {
		c.x.findings.fail("calls.executed", one.tool, "during the call, the plugin ceased to answer anything")
		c.drop()
		return
	}
	c.x.findings.fail("calls.executed", one.tool, "it did not end within %v", limit)
	c.x.findings.fail("flow.deadline", one.tool, "it was given %v, and had not ended %v after that", limit, grace)
	if one.cancel() == nil && !one.wait(ctx, grace) && t.stream.problem() == nil {
		c.x.findings.fail("flow.cancel", one.tool, "it had not ended %v after it was cancelled", grace)
	}
	c.drop()
}

// preview sends incomplete arguments to tools that accept them.
func (c *conversation) preview(ctx context.Context, found []target) {
	const check = "calls.previews"
	for i := range found {
		to := &found[i]
		if !to.spec.PartialArguments {
			continue
		}
		c.probe(ctx, check, func(ctx context.Context, t *trial) {
			text := to.arguments[0]
			start := c.x.call(to.spec.Name, nil)
			start.Complete, start.Timeout = false, nil // only the cancel ends it
			one, err := t.stream.begin(start)
			if err != nil {
				return
			}
			for _, piece := range pieces(text[:len(text)-1], 16) {
				if one.append(piece) != nil {
					return
				}
			}
			if !t.barrier(ctx, one) {
				c.x.findings.fail(check, to.spec.Name, "it ended before its arguments were complete, with %s", one.outcome())
				return
			}
			if one.cancel() == nil && c.ends(ctx, t, one, check) {
				c.x.findings.pass(check, "")
			}
		})
	}
	c.x.findings.skip(check, "no tool that could be called declares partial_arguments")
}

// callAgain makes the repeated calls of one tool.
func (c *conversation) callAgain(ctx context.Context, to *target) {
	text := to.arguments[0]
	again := func(check string, do func(ctx context.Context, t *trial)) { c.probe(ctx, check, do) }
	again("calls.pieces", func(ctx context.Context, t *trial) { c.inPieces(ctx, t, to) })
	again("calls.replaced", func(ctx context.Context, t *trial) { c.replaced(ctx, t, to) })
	again("calls.side_by_side", func(ctx context.Context, t *trial) { c.sideBySide(ctx, t, to) })
	again("calls.garbage", func(ctx context.Context, t *trial) { c.garbage(ctx, t, to) })
	again("calls.large_arguments", func(ctx context.Context, t *trial) {
		if loud, ok := c.large(ctx, t, to); ok {
			text = loud
		}
	})
	again("flow.credit", func(ctx context.Context, t *trial) { c.starve(ctx, t, to.spec.Name, text) })
	again("flow.waiting", func(ctx context.Context, t *trial) { c.cancelWaiting(ctx, t, to.spec.Name, text) })
	again("flow.cancel", func(ctx context.Context, t *trial) {
		start := c.x.call(to.spec.Name, to.arguments[0])
		start.Timeout = nil
		one, err := t.stream.begin(start)
		if err == nil && one.cancel() == nil && c.ends(ctx, t, one, "flow.cancel") {
			c.x.findings.pass("flow.cancel", "")
		}
	})
	again("flow.deadline", func(ctx context.Context, t *trial) {
		start := c.x.call(to.spec.Name, to.arguments[0])
		start.Timeout = toolpb.FromDuration(time.Millisecond)
		if one, err := t.stream.begin(start); err == nil && c.ends(ctx, t, one, "flow.deadline") {
			c.x.findings.pass("flow.deadline", "")
		}
	})
}

// pieces cuts a text into at most n pieces at arbitrary bytes.
func pieces(text []byte, n int) [][]byte {
	size := max(1, (len(text)+n-1)/n)
	return slices.Collect(slices.Chunk(text, size))
}

func (c *conversation) inPieces(ctx context.Context, t *trial, to *target) {
	const check = "calls.pieces"
	start := c.x.call(to.spec.Name, nil)
	start.Complete = false
	one, err := t.stream.begin(start)
	if err != nil {
		return
	}
	for _, piece := range pieces(to.arguments[0], 32) {
		if one.append(piece) != nil {
			return
		}
	}
	c.completes(ctx, t, one, check, nil)
}

func (c *conversation) replaced(ctx context.Context, t *trial, to *target) {
	start := c.x.call(to.spec.Name, []byte(`{"toolhost`))
	start.Complete = false
	one, err := t.stream.begin(start)
	if err != nil || one.append([]byte(` verify`)) != nil {
		return
	}
	c.completes(ctx, t, one, "calls.replaced", to.arguments[0])
}

// completes completes a call of a target whose arguments are known to work, judges the end, and
// reports whether the call ends as required.
func (c *conversation) completes(ctx context.Context, t *trial, one *call, check string, arguments json.RawMessage) bool {
	if one.complete(arguments) != nil || !c.ends(ctx, t, one, check) {
		return false
	}
	switch one.kind() {
	case tool.KindInvalidArgument, tool.KindInternal, tool.KindNotFound, tool.KindTimeout, tool.KindCancelled:
		c.x.findings.fail(check, one.tool, "it ended with %s, and with a result when the arguments came at once", one.outcome())
	}
	c.x.findings.pass(check, "")
	return true
}

func (c *conversation) sideBySide(ctx context.Context, t *trial, to *target) {
	const check, many = "calls.side_by_side", 8
	if to.spec.Serial {
		c.x.findings.skip(check, "the tool that is called declares serial")
		return
	}
	half := len(to.arguments[0]) / 2
	var calls []*call
	for range many {
		start := c.x.call(to.spec.Name, to.arguments[0][:half])
		start.Complete = false
		one, err := t.stream.begin(start)
		if err != nil {
			return
		}
		calls = append(calls, one)
	}
	if _, err := t.ask(ctx); err != nil && t.stream.problem() == nil {
		c.x.findings.fail("describe.answer", "", "asked while calls were open: %s", words(err))
	}
	for _, one := range slices.Backward(calls) {
		if one.append(to.arguments[0][half:]) != nil {
			return
		}
	}
	// In reverse order: a plugin that serves calls one by one waits for the first.
	for _, one := range slices.Backward(calls) {
		if !c.completes(ctx, t, one, check, nil) {
			return
		}
	}
}

func (c *conversation) garbage(ctx context.Context, t *trial, to *target) {
	const check = "calls.garbage"
	for _, text := range []string{"\xff\xfe{}", "\x00", `{"a":"` + "\xc3\x28\x00" + `"}`, `{"a":`, `[1]`, `"text"`} {
		one, err := t.stream.begin(c.x.call(to.spec.Name, []byte(text)))
		if err != nil || !c.ends(ctx, t, one, check) {
			return
		}
		one.lenient()
	}
	c.x.findings.pass(check, "")
}

// large calls a tool with a text of 1 MiB. It returns the arguments, and whether the result is
// large, too.
func (c *conversation) large(ctx context.Context, t *trial, to *target) (json.RawMessage, bool) {
	const check = "calls.large_arguments"
	small, ok := withText(to.spec.InputSchema, to.arguments[0], "toolhost")
	if !ok {
		c.x.findings.skip(check, "the tool that is called takes no text of any length")
		return nil, false
	}
	text, _ := withText(to.spec.InputSchema, to.arguments[0], strings.Repeat("toolhost ", 1<<20/9))
	before, err := t.stream.begin(c.x.call(to.spec.Name, small))
	if err != nil || !c.ends(ctx, t, before, check) {
		return nil, false
	}
	one, ok := c.sendLarge(t, to.spec.Name, text)
	if !ok || !c.ends(ctx, t, one, check) {
		return nil, false
	}
	if one.kind() == tool.KindInternal && before.kind() != tool.KindInternal {
		c.x.findings.fail(check, to.spec.Name, "it ended with %s", one.outcome())
	}
	c.x.findings.pass(check, "")
	one.mu.Lock()
	defer one.mu.Unlock()
	return text, one.chunked > 0
}

// sendLarge starts a call with arguments in as few pieces as the contract allows.
func (c *conversation) sendLarge(t *trial, name string, text json.RawMessage) (one *call, ok bool) {
	start := c.x.call(name, nil)
	start.Complete = false
	one, err := t.stream.begin(start)
	if err != nil {
		return nil, false
	}
	for piece := range slices.Chunk(text, maxPiece) {
		if one.append(piece) != nil {
			return nil, false
		}
	}
	return one, one.complete(nil) == nil
}
