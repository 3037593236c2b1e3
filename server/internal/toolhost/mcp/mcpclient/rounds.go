package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use sampling and roots, which 2026-07-28 deprecates.

// Bounds of the rounds of a call.
const (
	maxRounds = 64 // answers of the server that ask, in one call
	maxInputs = 32 // what the server asks in one round
	maxBusy   = 3  // rounds in which the server asks nothing, because it has too much to do
	maxKey    = 256
	busyPause = 200 * time.Millisecond // before the first repetition; doubles
)

// callTool calls the tool until the server asks nothing more. In version 2026-07-28, a server asks
// in the answer to the call, and the client repeats the call with what the server needs.
func (c *call) callTool() (*mcp.CallToolResult, error) {
	release, err := c.conn.takeTurn(c.ctx)
	if err != nil {
		return nil, c.unsent(err)
	}
	defer release()
	c.conn.calls.add(c.token, c)
	defer c.conn.calls.remove(c.token)
	params := &mcp.CallToolParams{Name: c.name}
	if len(c.arguments) > 0 {
		params.Arguments = json.RawMessage(c.arguments)
	}
	busy := 0
	for range maxRounds {
		res, err := c.first, error(nil)
		if c.first = nil; res == nil {
			params.Meta = c.meta()
			res, err = c.conn.session.CallTool(c.ctx, params)
		}
		if err != nil || !res.NeedsInput() {
			return res, err
		}
		again := *params
		again.RequestState = res.RequestState
		if len(res.InputRequests) == 0 {
			if busy++; busy > maxBusy {
				return nil, tool.Errorf(tool.KindUnavailable, "the MCP server has too much to do; try again later")
			}
			err = c.pause(busyPause << (busy - 1))
			again.InputResponses = nil
		} else {
			again.InputResponses, err = c.supply(res.InputRequests)
		}
		if err != nil {
			return nil, c.unsent(err)
		}
		params = &again
	}
	return nil, tool.Errorf(tool.KindRateLimited, "the MCP server has asked in %d rounds of the call, and may not ask more", maxRounds)
}

// unsent returns the error of a call that the server is not working on. It is a *tool.Error, so
// that a cancellation need not wait for the server.
func (c *call) unsent(err error) error {
	if c.ctx.Err() == nil {
		return err
	}
	return tool.Errorf(tool.KindCancelled, "the call was canceled: %w", context.Cause(c.ctx))
}

// The keys of what a server learns of each call: a key by which it recognizes a call that is sent
// again, and the W3C trace context, under the name of
// https://modelcontextprotocol.io/seps/414-request-meta.
const (
	metaIdempotencyKey = "toolhost/idempotencyKey"
	metaTraceparent    = "traceparent"
)

// meta returns the metadata of a request of the call.
func (c *call) meta() mcp.Meta {
	m := mcp.Meta{"progressToken": c.token}
	if c.key != "" {
		m[metaIdempotencyKey] = c.key
	}
	if c.trace != "" {
		m[metaTraceparent] = c.trace
	}
	if !c.conn.sessionless() {
		return m
	}
	m[mcp.MetaKeyClientCapabilities] = capabilities(c.answers, len(c.conn.cfg.Roots) > 0)
	if server := c.conn.session.InitializeResult().Capabilities; server != nil && server.Logging != nil {
		m[mcp.MetaKeyLogLevel] = logLevel
	}
	return m
}

// capabilities returns what a server may ask during a call, as the protocol has it.
func capabilities(kinds []tool.QuestionKind, roots bool) map[string]any {
	c := map[string]any{}
	if permitted(kinds, tool.QuestionPerson) {
		c["elicitation"] = map[string]any{"form": map[string]any{}}
	}
	if permitted(kinds, tool.QuestionModel) {
		c["sampling"] = map[string]any{}
	}
	if roots || permitted(kinds, tool.QuestionRoots) {
		c["roots"] = map[string]any{}
	}
	return c
}

func (c *call) pause(d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	case <-c.conn.done:
		return ErrEnded
	}
}

// supply returns what the server asks for. It blocks until there are answers to all questions. The
// protocol has no way to say that there is no answer, other than that a person closed the question.
// So a question without an answer ends the call, with the reason.
func (c *call) supply(requests mcp.InputRequestMap) (mcp.InputResponseMap, error) {
	if err := checkInputs(requests); err != nil {
		return nil, err
	}
	responses, questions := mcp.InputResponseMap{}, []tool.Question(nil)
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		if _, roots := requests[key].(*mcp.ListRootsParams); roots && !permitted(c.answers, tool.QuestionRoots) {
			responses[key] = rootsOf(rootsIn(c.conn.cfg.Roots))
			continue
		}
		q, refused := questionOf(requests[key])
		if refused != nil {
			return nil, refused
		}
		q.Key = key
		questions = append(questions, q)
	}
	if len(questions) == 0 {
		return responses, nil
	}
	answers, err := c.ask(c.ctx, questions)
	if err != nil {
		return nil, err
	}
	for i := range answers {
		response, refused := responseOf(&questions[i], &answers[i])
		if refused != nil {
			return nil, refused
		}
		responses[questions[i].Key] = response
	}
	return responses, nil
}

// checkInputs bounds what a server asks in one round.
func checkInputs(requests mcp.InputRequestMap) error {
	if len(requests) > maxInputs {
		return tool.Errorf(tool.KindRateLimited, "the MCP server asks %d questions at once; it may ask %d", len(requests), maxInputs)
	}
	for key := range requests {
		if len(key) > maxKey {
			return tool.Errorf(tool.KindInvalidArgument, "the MCP server gives a question a name of more than %d bytes", maxKey)
		}
	}
	return nil
}

// questionOf returns what a server asks as a question.
func questionOf(request mcp.InputRequest) (tool.Question, *tool.Error) {
	switch p := request.(type) {
	case *mcp.ElicitParams:
		return personQuestion(p)
	case *mcp.CreateMessageWithToolsParams:
		return modelQuestion(p)
	case *mcp.ListRootsParams:
		return tool.Question{Roots: &tool.RootsQuestion{}}, nil
	default:
		return tool.Question{}, tool.Errorf(tool.KindUnsupported, "the MCP server asks something that toolhost does not know")
	}
}

// responseOf returns the answer to a question as the server expects it, or why there is none.
func responseOf(q *tool.Question, a *tool.Answer) (mcp.InputResponse, *tool.Error) {
	switch {
	case q.Person != nil && a.Person != nil:
		r := elicited(a.Person)
		addDefaults(r.Content, q.Person.Schema)
		return r, nil
	case q.Person != nil && a.Err != nil && a.Err.Kind == tool.KindTimeout:
		return &mcp.ElicitResult{Action: "cancel"}, nil
	case q.Model != nil && a.Model != nil:
		return sampled(a.Model), nil
	case q.Roots != nil && a.Roots != nil:
		return rootsOf(a.Roots.Roots), nil
	}
	reason := &tool.Error{Kind: tool.KindInternal, Message: "the answer does not fit the question"}
	if a.Err != nil {
		reason = a.Err
	}
	return nil, tool.Errorf(cmp.Or(reason.Kind, tool.KindInternal), "the MCP server asked, and got no answer: %s", clip(reason.Message, maxMessage))
}
