package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// approvalRequest is the id of the question in a result that requires input.
const approvalRequest = "approval"

// approvalSchema is the form of the question. A person has to choose yes: a client that accepts an
// empty form for its user approves nothing.
var approvalSchema = json.RawMessage(`{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve the call",` +
	`"description":"Whether the tool may be called with exactly these arguments","default":false}},"required":["approve"]}`)

// approve puts the answer of a person into a call. answered reports whether the request has one.
// The result is not nil if the person declined. The client may have nobody to ask: then the host
// holds the call for a person elsewhere. A client without a user closes each question, and the
// model must not read that a person said no.
//
// The state of the request is the digest of the arguments that the person saw, and after a dot the
// move of the session of which it read, if there was one. The client sends it back, and could send
// another one. That gives it nothing: its principal approves the call in either case, and the host
// executes only the arguments with the digest.
func (s *Server) approve(req *mcp.CallToolRequest, call *tool.Call) (answered bool, declined *mcp.CallToolResult, err error) {
	given, ok := req.Params.InputResponses[approvalRequest]
	if !ok {
		if !asksForms(req) {
			call.ApprovalWait = &s.config.ApprovalWait
		}
		return false, nil, nil
	}
	answer, ok := given.(*mcp.ElicitResult)
	if !ok || req.Params.RequestState == "" {
		return true, nil, invalid("the input response %q needs the answer of an elicitation and the request state that asked for it", approvalRequest)
	}
	if answer.Action == "cancel" {
		call.ApprovalWait = &s.config.ApprovalWait
		return true, nil, nil
	}
	if yes, _ := answer.Content["approve"].(bool); answer.Action != "accept" || !yes {
		text := fmt.Sprintf("The person did not approve the call of %s. It was not executed.", call.Tool)
		return true, failure(&tool.Error{Kind: tool.KindDenied, Message: text, CallID: call.ID}, text), nil
	}
	by := "the user of an MCP client"
	if info := req.ClientInfo(); info != nil {
		by = "the user of " + strings.ToValidUTF8(info.Name[:min(len(info.Name), 100)], "")
	}
	digest, move, _ := strings.Cut(req.Params.RequestState, ".")
	call.Approval = &tool.Approval{ApprovedBy: by, Reason: "an elicitation of MCP", Time: time.Now(), ArgumentsSHA256: digest, SessionMove: move}
	return true, nil, nil
}

// wording words the questions that a client asks a person or its model. visible makes what a tool
// or a caller chose harmless for a terminal.
type wording struct{ visible func(string) string }

// askApproval returns the result that asks a person to approve a call. If nobody can be asked here,
// the result says what to do instead. answered says that the request already has an answer: the
// arguments have changed since.
func (w wording) askApproval(req *mcp.CallToolRequest, needed *tool.Error, answered bool) (*mcp.CallToolResult, error) {
	name := req.Params.Name
	switch {
	case needed.Decision != "":
		return failure(needed, fmt.Sprintf("The call of %s was not executed yet: a person has to approve it first. It waits as %s, and `toolhost approvals approve %[2]s` approves it. "+
			"After the approval, call the tool again with the same arguments.", name, needed.Decision)), nil
	case needed.FourEyes:
		return failure(needed, fmt.Sprintf("The call of %s was not executed: a rule requires that a person other than the caller approves it, "+
			"and an MCP client can only ask its own user. A delegate, such as agentd, can carry the approval of another person.", name)), nil
	case answered:
		return failure(needed, fmt.Sprintf("The call of %s was not executed: its final arguments are no longer those that the person approved. Call it again to ask again.", name)), nil
	case !showable(needed):
		return failure(needed, fmt.Sprintf("The call of %s was not executed: it needs the approval of a person, and its arguments are too large to be shown to one.", name)), nil
	case !asksForms(req):
		return failure(needed, fmt.Sprintf("The call of %s was not executed: it needs the approval of a person, and this MCP client cannot ask one, "+
			"because it does not support elicitation. A person with the right calls.approve can make the call with: toolhost call %s --approve=%s, and the same arguments.",
			name, name, needed.ArgumentsSHA256)), nil
	}
	state := needed.ArgumentsSHA256
	if needed.SessionMove != "" {
		state += "." + needed.SessionMove
	}
	question := &mcp.ElicitParams{Mode: "form", Message: w.question(name, needed), RequestedSchema: approvalSchema}
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{approvalRequest: question},
		RequestState:  state,
	}, nil
}

// showable reports whether a person can be shown what a call would be executed with.
func showable(needed *tool.Error) bool {
	return len(needed.Arguments) > 0 && needed.ArgumentsSHA256 != ""
}

// asksForms reports whether the client can ask its user to fill in a form. A client that does not
// say which elicitation it supports supports forms.
func asksForms(req capable) bool {
	c := req.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

// question returns the text for the person who decides. The caller and the tool chose parts of it.
func (w wording) question(name string, needed *tool.Error) string {
	var arguments bytes.Buffer
	if json.Indent(&arguments, needed.Arguments, "", "  ") != nil {
		arguments.Write(needed.Arguments)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "toolhost asks: may the tool %s be called with these arguments?\n\n%s", name, arguments.String())
	if needed.Rule != "" {
		fmt.Fprintf(&b, "\n\nThe rule %s requires the approval of a person.", needed.Rule)
	}
	if needed.SessionMove != "" {
		fmt.Fprintf(&b, "\n\n%s", needed.Message)
	}
	return w.visible(b.String())
}
