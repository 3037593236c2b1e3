package agent

import (
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

// approveStanding asks toolhost for the standing approval that a person chose. Its goroutine
// belongs to the run and ends with the task. The approval is created for the principal of the run,
// in the name of the principal that responded. toolhost decides whether both may.
func (r *run) approveStanding(t *task, c loop.ApproveStanding) {
	started := r.state.Started()
	request := tool.ApprovalRequest{
		RequestID: c.RequestID, Tool: c.Call.Tool, Arguments: c.Arguments, DefinitionSHA256: c.Definition,
		Agent: started.AgentName(), Run: r.id, Session: started.Session, Scope: c.Standing.Scope, AnyArguments: c.Standing.AnyArguments,
		Patterns: c.Standing.Patterns, Expires: c.Standing.Expires, CallID: c.Call.SentID(), Context: r.state.Context(r.state.Turn()-1, c.Call.ID),
	}
	approver := ""
	if a := c.Call.Approval; a != nil {
		approver, request.ApproverGroups, request.ApprovedBy, request.Reason = a.Approver, a.ApproverGroups, a.ApprovedBy, a.Reason
	}
	if approver == r.config.Principal {
		approver = "" // toolhost takes the agent's own principal from the connection
	}
	create, retry := r.config.ApproveStanding, r.config.ToolRetry
	r.group.Go(func() {
		defer r.recoverTask(t, func(words string) loop.Payload {
			return c.StandingResult(nil, &tool.Error{Kind: tool.KindInternal, Message: words})
		})
		finish := func(a *tool.StandingApproval, err error) {
			r.report(update{task: t, done: func() loop.Payload { return c.StandingResult(a, err) }})
		}
		if create == nil {
			finish(nil, tool.Errorf(tool.KindUnsupported, "this agentd creates no standing approvals"))
			return
		}
		for attempt := 1; ; attempt++ {
			a, err := create(t.ctx, request, approver)
			switch {
			case t.ctx.Err() != nil:
				return // a process that continues the run makes the same request
			case err == nil, attempt >= retry.MaxAttempts, !mayRecover(err), tool.KindOf(err) == tool.KindRateLimited:
				finish(&a, err)
				return
			}
			r.log.to(loglevel.Tools).Warn("the request for a standing approval is sent again", "tool", c.Call.Tool, "call", c.Call.ID, "attempt", attempt+1, "error", err)
			if sleep(t.ctx, retry.pause(attempt, tool.AsError(err).RetryAfter)) != nil {
				return
			}
		}
	})
}

// offers returns the standing approvals that suit a call: for the same arguments; for what is in
// the same folder or at the same host, if the call has a path or a URL; and for any arguments in
// this run. They are suggestions: toolhost decides which patterns it accepts. A tool whose
// declaration cannot be read gets no offers, because it may have meant that an argument is a
// command.
func offers(spec *tool.Spec, final json.RawMessage) []loop.Standing {
	var values map[string]json.RawMessage
	if json.Unmarshal(final, &values) != nil || values == nil {
		return nil
	}
	kinds, ok := declaredKinds(spec)
	if !ok {
		return nil
	}
	list := []loop.Standing{{}}
	var patterns []tool.ArgumentPattern
	places := false
	for _, name := range slices.Sorted(maps.Keys(values)) {
		kind := kinds[name]
		if kind == "" {
			kind = map[string]tool.ArgumentKind{"path": tool.ArgumentPath, "url": tool.ArgumentURL}[name]
		}
		var text string
		if kind != tool.ArgumentContent && json.Unmarshal(values[name], &text) != nil {
			continue
		}
		p := tool.ArgumentPattern{Argument: name}
		switch kind {
		case tool.ArgumentPath:
			p.PathPrefix = folderOf(text)
		case tool.ArgumentURL:
			p.Origin = originOf(text)
		case tool.ArgumentContent:
			p.Any = true
		}
		if p.PathPrefix+p.Origin != "" || p.Any {
			patterns, places = append(patterns, p), places || !p.Any
		}
	}
	if places {
		list = append(list, loop.Standing{Patterns: patterns})
	}
	return append(list, loop.Standing{AnyArguments: true})
}

// declaredKinds returns what a tool declares of its arguments. ok is false if the declaration, or a
// part of it, cannot be read.
func declaredKinds(spec *tool.Spec) (kinds map[string]tool.ArgumentKind, ok bool) {
	text, declares := spec.Metadata[tool.KeyArguments]
	if !declares {
		return nil, true
	}
	if json.Unmarshal(text, &kinds) != nil {
		return nil, false
	}
	for _, kind := range kinds {
		if kind == "" {
			return nil, false
		}
	}
	return kinds, true
}

// folderOf returns the folder of a file in the workspace. For a file at the top it returns the
// file, because the folder is the whole workspace. It returns "" for other paths.
func folderOf(name string) string {
	clean := path.Clean(name)
	if name == "" || path.IsAbs(name) || strings.Contains(name, "\\") || slices.Contains(strings.Split(name, "/"), "..") || clean == "." {
		return ""
	}
	if dir := path.Dir(clean); dir != "." {
		return dir
	}
	return clean
}

// originOf returns the origin of an http or https URL, or "".
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
