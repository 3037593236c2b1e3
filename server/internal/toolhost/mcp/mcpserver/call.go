package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// The keys in _meta of a request tools/call.
const (
	// metaCallID is the call id that the client chose.
	metaCallID = "toolhost/callId"
	// metaFirstSent is when the client sent the call id for the first time, in RFC 3339.
	metaFirstSent = "toolhost/firstSent"
	// metaTraceparent is the trace context of W3C.
	metaTraceparent = "traceparent"
)

// maxStructured bounds the result of a tool that promises structured content. Such a result has no
// other form, so the host does not replace it by an artifact before it is this large.
const maxStructured = 8 << 20

// stateless is the first version of MCP without sessions.
const stateless = "2026-07-28"

// call handles tools/call. structured says that the tool promises structured content.
func (s *Server) call(ctx context.Context, req *mcp.CallToolRequest, structured bool) (*mcp.CallToolResult, error) {
	c, requested, err := s.resume(req)
	if err != nil {
		return nil, err
	}
	if c != nil {
		if refused := c.answer(ctx, req.Params.InputResponses); refused != nil {
			c.execution.Close()
			return nil, refused
		}
		return s.converse(ctx, req, c, requested, nil, structured)
	}
	call, err := s.callOf(req)
	if err != nil {
		return nil, err
	}
	if structured {
		call.MaxShown = new(maxStructured)
	}
	approved, declined, err := s.approve(req, &call)
	if err != nil || declined != nil {
		return declined, err
	}
	call.Answers = answersOf(req)
	if c, err = s.openCall(ctx, req, call, approved); err != nil {
		failed := tool.AsError(err)
		if c = s.holdElsewhere(ctx, req, call, failed, approved); c == nil {
			return s.conclude(req, &tool.Outcome{CallID: call.ID, Err: failed}, structured, approved)
		}
	}
	return s.converse(ctx, req, c, call.ID, req.Params.InputResponses, structured)
}

// converse follows a call until its end, or until the client has to answer.
func (s *Server) converse(ctx context.Context, req *mcp.CallToolRequest, c *conversation, requested string, early mcp.InputResponseMap, structured bool) (*mcp.CallToolResult, error) {
	for {
		outcome, err := c.next(ctx, req, early)
		if err == nil && outcome == nil {
			if asks := s.keep(c, requested); asks != nil {
				return asks, nil
			}
			c.refuse(ctx, tool.Errorf(tool.KindRateLimited, "too many calls of the MCP client wait for its answers"))
			early = nil
			continue
		}
		c.execution.Close()
		if err != nil {
			return nil, err
		}
		if outcome.Err != nil {
			if again := s.holdElsewhere(ctx, req, c.call, outcome.Err, c.approved); again != nil {
				c = again
				continue
			}
		}
		return s.conclude(req, outcome, structured, c.approved)
	}
}

// holdElsewhere opens a call again that needs another person than the user of the client, so that
// toolhost holds it. It returns nil if that would not help.
func (s *Server) holdElsewhere(ctx context.Context, req *mcp.CallToolRequest, call tool.Call, failed *tool.Error, approved bool) *conversation {
	if call.ApprovalWait != nil || !needsAnother(&call, failed) {
		return nil
	}
	call.Approval, call.ApprovalWait = nil, &s.config.ApprovalWait
	again, err := s.openCall(ctx, req, call, approved)
	if err != nil {
		return nil
	}
	return again
}

// needsAnother reports whether the user of the client is not who can approve a call. Whether the
// user is in one of the groups of a rule, and has the right to approve, shows only its approval.
func needsAnother(call *tool.Call, failed *tool.Error) bool {
	switch failed.Kind {
	case tool.KindDenied: // a call that the policy denies is denied again
		return call.Approval != nil && failed.Plugin == ""
	case tool.KindApprovalRequired:
		return failed.FourEyes || len(failed.ApproverGroups) > 0 && (call.Approval != nil || !showable(failed))
	}
	return false
}

// conclude returns the outcome of a call as the result of its last request.
func (s *Server) conclude(req *mcp.CallToolRequest, outcome *tool.Outcome, structured, approved bool) (*mcp.CallToolResult, error) {
	if outcome.Err == nil {
		return resultOf(outcome, structured, s.config.Session), nil
	}
	if missing := missingCapability(req, outcome.Err); missing != nil {
		return nil, missing
	}
	switch outcome.Err.Kind {
	case tool.KindNotFound, tool.KindInvalidArgument, tool.KindConflict:
		return nil, requestError(outcome.Err)
	case tool.KindApprovalRequired:
		return s.wording.askApproval(req, outcome.Err, approved)
	default:
		return failure(outcome.Err, outcome.Err.Error()), nil
	}
}

// missingCapability returns the error of the protocol for a call of an MCP server that refused it
// because the client cannot be asked. It is nil for other errors, and for versions that do not have
// the error. The error names only capabilities that toolhost knows.
func missingCapability(req *mcp.CallToolRequest, e *tool.Error) error {
	refusal, ok := errors.AsType[*jsonrpc.Error](e.Err)
	if !ok || refusal.Code != mcp.CodeMissingRequiredClientCapabilities || req.ProtocolVersion() < stateless {
		return nil
	}
	var named struct {
		Required map[string]json.RawMessage `json:"requiredCapabilities"`
	}
	_ = json.Unmarshal(refusal.Data, &named) // an error without capabilities is passed on, too
	required := map[string]any{}
	for _, capability := range []string{"elicitation", "sampling", "roots"} {
		if _, ok := named.Required[capability]; ok {
			required[capability] = map[string]any{}
		}
	}
	data, err := json.Marshal(map[string]any{"requiredCapabilities": required})
	if err != nil {
		return nil
	}
	return &jsonrpc.Error{Code: refusal.Code, Message: e.Message, Data: data}
}

// callOf returns the call that a request describes.
func (s *Server) callOf(req *mcp.CallToolRequest) (tool.Call, error) {
	call := tool.Call{Tool: req.Params.Name, Arguments: req.Params.Arguments, Session: s.config.Session, FirstSent: time.Now()}
	if len(call.Arguments) == 0 || string(call.Arguments) == "null" { // the SDK of Go sends a nil map as null
		call.Arguments = json.RawMessage("{}")
	}
	if overHTTP(req) {
		call.From = req.Extra.Header.Get(FromHeader)
	}
	meta := req.Params.GetMeta()
	var err error
	if call.ID, err = textIn(meta, metaCallID); err != nil {
		return call, err
	}
	if call.ID != "" {
		if err := tool.CheckID(call.ID); err != nil {
			return call, invalid("_meta %s: %v", metaCallID, err)
		}
		call.FirstSent = time.Time{} // an earlier request may have had the id
	}
	sent, err := textIn(meta, metaFirstSent)
	if err == nil && sent != "" {
		if call.FirstSent, err = time.Parse(time.RFC3339, sent); err != nil {
			err = invalid("_meta %s is not a time in RFC 3339", metaFirstSent)
		}
	}
	if err != nil {
		return call, err
	}
	call.Traceparent, _ = meta[metaTraceparent].(string)
	return call, nil
}

// textIn returns the text at a key of _meta, or "" if it is not there.
func textIn(meta map[string]any, key string) (string, error) {
	value, ok := meta[key]
	if !ok {
		return "", nil
	}
	text, ok := value.(string)
	if !ok || text == "" {
		return "", invalid("_meta %s must be a text that is not empty", key)
	}
	return text, nil
}

// left reports whether a request ended because its client left, and not because the client canceled
// it. A call with a call id then continues, and the client can ask for its outcome.
func left(ctx context.Context, req *mcp.CallToolRequest) bool {
	if overHTTP(req) && req.ProtocolVersion() >= stateless {
		return true // the version has no other sign of a canceled request
	}
	// The SDK ends the contexts of a connection that broke with the error of the connection.
	return !errors.Is(context.Cause(ctx), context.Canceled)
}

func overHTTP(req *mcp.CallToolRequest) bool { return req.Extra != nil && req.Extra.Header != nil }

// invalid returns the JSON-RPC error of a request that is not valid.
func invalid(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// requestError returns the JSON-RPC error for a request that failed before a tool had it.
func requestError(err error) error {
	e := tool.AsError(err)
	code := int64(jsonrpc.CodeInternalError)
	switch e.Kind {
	case tool.KindNotFound, tool.KindInvalidArgument, tool.KindConflict:
		code = jsonrpc.CodeInvalidParams
	}
	data, _ := json.Marshal(newErrorMeta(e)) // text and numbers can be encoded
	return &jsonrpc.Error{Code: code, Message: cmp.Or(e.Message, string(e.Kind)), Data: data}
}
