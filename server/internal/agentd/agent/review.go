package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// review is what a person sees of a call that needs approval, beside its final arguments. All of it
// is only shown and compared: nothing of it decides whether the call is executed.
type review struct {
	schema json.RawMessage // of the tool's arguments; nil: unknown
	diff   string          // what the call would change; empty: the tool shows nothing
	offers []loop.Standing // standing approvals that suit the call
}

const (
	// reviewTime bounds how long the decision waits for its review. A person does not notice it.
	reviewTime = 3 * time.Second
	// maxReviewSchema is the largest schema that a decision has, in bytes: the journal and each
	// watcher get it.
	maxReviewSchema = 64 << 10
	// maxDiff is the size of the largest diff in bytes. No person reads more.
	maxDiff = 32 << 10
)

// The declaration in a tool's metadata that says that its previews have a diff of what the call
// would change.
const (
	previewKey  = "preview"
	previewDiff = "diff"
)

const cutDiff = "… the diff is longer than this\n"

// describe completes the request for a decision about an approval. A nil review changes nothing.
func (v *review) describe(d *loop.DecisionRequested) {
	if v != nil && d.Kind == loop.DecideApproval {
		d.Schema, d.Diff = v.schema, v.diff
		if d.Definition != "" && !d.FourEyes {
			d.Offers = v.offers
		}
	}
}

// reviewCall asks toolhost whether a call that has to wait needs an approval. It needs no slot. Its
// goroutine belongs to the run and ends with the task, which stays in progress when nobody has to
// be asked, so that toolhost is asked once.
func reviewCall(r *run, t *task, c loop.Call) {
	e := newToolCall(r, t, c)
	r.group.Go(func() {
		defer r.recoverTask(t, func(string) loop.Payload { return nil })
		if err := e.reviewed(); err != nil {
			failed := loop.FailureResult(&e.call, tool.AsError(err))
			r.report(update{task: t, done: func() loop.Payload { return loop.Review(&r.state, failed) }, review: e.review(failed.Failure)})
		}
	})
}

// reviewed returns the error with which toolhost would refuse the call now.
func (e *toolCall) reviewed() error {
	ask, retry := e.run.config.ReviewCall, e.run.config.ToolRetry
	if ask == nil {
		return nil
	}
	for attempt := 1; ; attempt++ {
		_, err := ask(e.task.ctx, e.request())
		if err == nil || attempt >= retry.MaxAttempts || !mayRecover(err) {
			return err
		}
		if sleep(e.task.ctx, retry.pause(attempt, tool.AsError(err).RetryAfter)) != nil {
			return err
		}
	}
}

// review returns what a person should see of a call that failed because it needs approval, or nil
// if nothing is known or no person is asked. It takes at most reviewTime.
func (e *toolCall) review(failure *loop.Failure) *review {
	if !e.attended || failure == nil || failure.Kind != tool.KindApprovalRequired {
		return nil
	}
	ctx, cancel := context.WithTimeout(e.task.cancelled, reviewTime)
	defer cancel()
	spec := e.declaration(ctx)
	if spec == nil {
		return nil
	}
	v := &review{offers: offers(spec, failure.Final)}
	if len(spec.InputSchema) <= maxReviewSchema && json.Valid(spec.InputSchema) {
		v.schema = spec.InputSchema
	}
	if len(failure.Final) > 0 && showsDiff(spec) {
		v.diff = e.diff(ctx, failure.Final)
	}
	return v
}

// showsDiff reports whether a tool declares that its previews have a diff.
func showsDiff(spec *tool.Spec) bool {
	var declared string
	return spec.PartialArguments && json.Unmarshal(spec.Metadata[previewKey], &declared) == nil && declared == previewDiff
}

// declaration returns the declaration of the call's tool, or nil if it cannot be known.
func (e *toolCall) declaration(ctx context.Context) *tool.Spec {
	if e.spec != nil {
		return e.spec
	}
	infos, err := e.run.config.Tools.ListTools(ctx, tool.Query{Names: []string{e.call.Tool}, Session: e.session, Context: e.context})
	if err != nil {
		e.run.log.to(loglevel.Tools).Warn("a decision is requested without the schema of its tool", "tool", e.call.Tool, "call", e.call.ID, "error", err)
		return nil
	}
	for i := range infos {
		if infos[i].Spec.Name == e.call.Tool {
			return &infos[i].Spec
		}
	}
	return nil
}

// diff returns what the tool says that the call would change, or "". It opens a call that it never
// completes, so toolhost executes nothing: the tool gets the final arguments as it gets those that
// a model is writing. The id of the call is not the one that is executed later.
func (e *toolCall) diff(ctx context.Context, final json.RawMessage) string {
	execution, err := e.run.config.Tools.Open(ctx, tool.Call{
		ID: e.call.SentID() + ".preview", Tool: e.call.Tool, Session: e.session, Context: e.context, Traceparent: e.trace, Agent: e.agent, Run: e.run.id,
	}, false)
	if err == nil {
		defer execution.Close()
		err = execution.Send(ctx, final, false)
	}
	for err == nil {
		var event tool.Event
		if event, err = execution.Next(ctx); err != nil {
			break
		}
		switch {
		case event.Ended != nil:
			return ""
		case event.Status != nil:
			if diff := diffOf(event.Status.Result); diff != "" {
				return diff
			}
		}
	}
	if e.task.ctx.Err() == nil {
		e.run.log.to(loglevel.Tools).Warn("a tool cannot show what its call would change", "tool", e.call.Tool, "call", e.call.ID, "error", err)
	}
	return ""
}

// diffOf returns the diff in the result of a status, as text that ends with a line feed and has at
// most maxDiff bytes, or "".
func diffOf(result json.RawMessage) string {
	var shown struct {
		Diff string `json:"diff"`
	}
	if json.Unmarshal(result, &shown) != nil || strings.TrimSpace(shown.Diff) == "" {
		return ""
	}
	diff := strings.TrimRight(shown.Diff, "\n") + "\n"
	if len(diff) <= maxDiff {
		return diff
	}
	diff = diff[:maxDiff-len(cutDiff)]
	return strings.ToValidUTF8(diff[:strings.LastIndexByte(diff, '\n')+1], "") + cutDiff
}

// checkEdit returns an error if a person approves a call with arguments that do not fit the schema
// of its tool. Nothing is known about the arguments if the decision has no schema.
func checkEdit(p *loop.Pending, d *loop.DecisionMade) error {
	if p == nil || p.Kind != loop.DecideApproval || len(d.Arguments) == 0 {
		return nil
	}
	return CheckArguments(p.Schema, d.Arguments)
}

// CheckArguments returns an error for people if a text is no JSON object, or does not fit the
// schema of a tool's arguments. An empty schema, or one that cannot be used, admits every object.
func CheckArguments(schema, text json.RawMessage) error {
	parsed, err := arguments.Parse(bytes.TrimSpace(text))
	if err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the arguments are no JSON object: %w", err)
	}
	if len(schema) == 0 {
		return nil
	}
	compiled, err := arguments.Compile(schema)
	if err != nil { // toolhost checks the arguments again
		return nil
	}
	if err := compiled.Validate(parsed); err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "%w", err)
	}
	return nil
}
