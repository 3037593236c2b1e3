package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers and clients of 2025-11-25 use sampling and roots, which 2026-07-28 deprecates.

// capable is a request that says what its client can be asked.
type capable interface {
	ClientCapabilities() *mcp.ClientCapabilities
}

// answersOf returns the kinds of questions that the client of a request answers.
func answersOf(req capable) []tool.QuestionKind {
	c := req.ClientCapabilities()
	if c == nil {
		return nil
	}
	var kinds []tool.QuestionKind
	if asksForms(req) {
		kinds = append(kinds, tool.QuestionPerson)
	}
	if c.Sampling != nil {
		kinds = append(kinds, tool.QuestionModel)
	}
	if c.RootsV2 != nil {
		kinds = append(kinds, tool.QuestionRoots)
	}
	return kinds
}

// nameOf returns the name of a question among the open ones of the call: that of the tool, if it is
// neither taken nor that of an approval.
func (c *conversation) nameOf(q *tool.Question) string {
	own := "question-" + strconv.FormatUint(uint64(q.ID), 10)
	if q.Key == "" || q.Key == approvalRequest || strings.HasPrefix(q.Key, "question-") {
		return own
	}
	for _, a := range c.open {
		if a.name == q.Key {
			return own
		}
	}
	return q.Key
}

// requestOf returns a question as a request of the protocol. The error says why there is none.
func (w wording) requestOf(q *tool.Question) (mcp.InputRequest, error) {
	switch {
	case q.Person != nil:
		return w.elicitationOf(q)
	case q.Model != nil:
		return samplingOf(q)
	default:
		return &mcp.ListRootsParams{}, nil
	}
}

// elicitationOf returns a question for a person. The message names the plugin, because a client
// shows the question as one of toolhost.
func (w wording) elicitationOf(q *tool.Question) (mcp.InputRequest, error) {
	form, err := formOf(q.Person.Schema)
	if err != nil {
		return nil, err
	}
	message := fmt.Sprintf("The plugin %s asks for its tool %s:\n\n%s", q.Plugin, q.Tool, q.Person.Message)
	if q.Tool == "" {
		message = fmt.Sprintf("The plugin %s asks for one of its prompts:\n\n%s", q.Plugin, q.Person.Message)
	}
	return &mcp.ElicitParams{Mode: "form", Message: w.visible(message), RequestedSchema: form}, nil
}

// defaultTokens bounds the response of a model if the tool does not, because the protocol requires
// a bound.
const defaultTokens = 4096

// samplingOf returns a question for a model. Each block of content is a message, because early
// versions of the protocol allow one block in a message.
func samplingOf(q *tool.Question) (mcp.InputRequest, error) {
	p := &mcp.CreateMessageWithToolsParams{
		Meta: mcp.Meta{metaPlugin: q.Plugin}, SystemPrompt: q.Model.System, MaxTokens: int64(q.Model.MaxTokens), Messages: []*mcp.SamplingMessageV2{},
	}
	if p.MaxTokens <= 0 {
		p.MaxTokens = defaultTokens
	}
	for _, m := range q.Model.Messages {
		for i := range m.Content {
			content, err := sampledContent(&m.Content[i])
			if err != nil {
				return nil, err
			}
			p.Messages = append(p.Messages, &mcp.SamplingMessageV2{Role: mcp.Role(m.Role), Content: []mcp.Content{content}})
		}
	}
	return p, nil
}

func sampledContent(c *tool.Content) (mcp.Content, error) {
	switch {
	case c.Kind == tool.ContentImage:
		return &mcp.ImageContent{Data: c.Data, MIMEType: c.MediaType}, nil
	case c.Kind == tool.ContentFile && strings.HasPrefix(c.MediaType, "audio/"):
		return &mcp.AudioContent{Data: c.Data, MIMEType: c.MediaType}, nil
	case c.Kind == tool.ContentText:
		return &mcp.TextContent{Text: c.Text}, nil
	case c.Kind == tool.ContentJSON:
		return &mcp.TextContent{Text: string(c.JSON)}, nil
	default:
		return nil, errors.New("the conversation has a file, which the protocol does not allow")
	}
}

// answerOf returns the response of a client as the answer to a question. ok is false if it is of
// another kind.
func answerOf(q *tool.Question, response mcp.InputResponse) (answer tool.Answer, ok bool) {
	switch r := response.(type) {
	case *mcp.ElicitResult:
		if q.Person == nil {
			return answer, false
		}
		action, known := personActions[r.Action]
		if !known {
			return answer, false
		}
		person := &tool.PersonAnswer{Action: action}
		if action == tool.PersonAccept {
			content := r.Content
			if content == nil {
				content = map[string]any{}
			}
			text, err := json.Marshal(content)
			if err != nil {
				return answer, false
			}
			person.Content = text
		}
		return tool.Answer{Person: person}, true
	case *mcp.CreateMessageWithToolsResult:
		return modelAnswer(r), q.Model != nil && r != nil
	case *mcp.ListRootsResult:
		roots := &tool.RootsAnswer{}
		for _, root := range r.Roots {
			if root != nil {
				roots.Roots = append(roots.Roots, tool.Root{URI: root.URI, Name: root.Name})
			}
		}
		return tool.Answer{Roots: roots}, q.Roots != nil
	default:
		return answer, false
	}
}

var personActions = map[string]tool.PersonAction{"accept": tool.PersonAccept, "decline": tool.PersonDecline, "cancel": tool.PersonDismiss}

// stopReasons are the reasons of MCP why a response ended, in the words that agentd uses.
var stopReasons = map[string]string{"endTurn": "end_turn", "stopSequence": "stop_sequence", "maxTokens": "max_tokens"}

func modelAnswer(r *mcp.CreateMessageWithToolsResult) tool.Answer {
	model := &tool.ModelAnswer{Model: r.Model, StopReason: r.StopReason}
	if reason, ok := stopReasons[r.StopReason]; ok {
		model.StopReason = reason
	}
	for _, content := range r.Content {
		switch c := content.(type) {
		case *mcp.TextContent:
			model.Content = append(model.Content, tool.Text(strings.ToValidUTF8(c.Text, "\uFFFD")))
		case *mcp.ImageContent:
			model.Content = append(model.Content, tool.Content{Kind: tool.ContentImage, MediaType: c.MIMEType, Data: c.Data})
		case *mcp.AudioContent:
			model.Content = append(model.Content, tool.Content{Kind: tool.ContentFile, MediaType: c.MIMEType, Data: c.Data})
		default:
			return tool.Answer{Err: tool.Errorf(tool.KindUnsupported, "the model of the MCP client did not answer with text, images or audio")}
		}
	}
	return tool.Answer{Model: model}
}

// send asks the client of a session, and returns its answer. It returns when ctx ends.
func (a *asking) send(ctx context.Context, session *mcp.ServerSession) tool.Answer {
	var response mcp.InputResponse
	var err error
	switch p := a.request.(type) {
	case *mcp.ElicitParams:
		response, err = session.Elicit(ctx, p)
	case *mcp.CreateMessageWithToolsParams:
		response, err = session.CreateMessageWithTools(ctx, p)
	case *mcp.ListRootsParams:
		response, err = session.ListRoots(ctx, p)
	}
	if err != nil {
		kind := tool.KindUnavailable
		if refusal, ok := errors.AsType[*jsonrpc.Error](err); ok && refusal.Code == jsonrpc.CodeMethodNotFound {
			kind = tool.KindUnsupported
		}
		return tool.Answer{Err: tool.Errorf(kind, "the MCP client did not answer: %v", err)}
	}
	answer, ok := answerOf(a.question, response)
	if !ok {
		return tool.Answer{Err: tool.Errorf(tool.KindUnavailable, "the MCP client gave an answer that does not follow the protocol")}
	}
	return answer
}
