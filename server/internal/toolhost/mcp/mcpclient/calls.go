package mcpclient

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

//lint:file-ignore SA1019 Servers of 2025-11-25 use sampling, which 2026-07-28 deprecates.

// calls has the calls in progress, and brings them what the server sends before their answers:
// progress, and the questions of version 2025-11-25. All methods are safe for concurrent use.
type calls struct {
	mu      sync.Mutex
	byToken map[string]*call // by progress token
}

func (s *calls) add(token string, c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byToken[token] = c
}

func (s *calls) remove(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byToken, token)
}

// progressed passes on the progress of a call. A token that no call has is the server's mistake,
// and is ignored.
func (s *calls) progressed(p *mcp.ProgressNotificationParams) {
	token, ok := p.ProgressToken.(string)
	if !ok {
		return
	}
	s.mu.Lock()
	c := s.byToken[token]
	s.mu.Unlock()
	if c != nil {
		c.push(tool.Event{Status: &tool.Status{Progress: &tool.Progress{
			Done: p.Progress, Total: max(p.Total, 0), Message: oneLine(p.Message),
		}}})
	}
}

// asker returns the call that a request of the server belongs to, if the call may ask it.
func (s *calls) asker(kind tool.QuestionKind) (*call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byToken) != 1 {
		return nil, &jsonrpc.Error{Code: codeUnanswered, Message: "toolhost accepts a question only during a call, and no single call is in progress"}
	}
	for _, c := range s.byToken {
		if permitted(c.answers, kind) {
			return c, nil
		}
	}
	return nil, &jsonrpc.Error{Code: codeUnanswered, Message: "neither the operator nor the caller of the tool permits this question"}
}

// elicit answers elicitation/create of version 2025-11-25.
func (s *calls) elicit(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	c, err := s.asker(tool.QuestionPerson)
	if err != nil {
		return nil, err
	}
	q, refused := personQuestion(req.Params)
	if refused != nil {
		return nil, protocolError(refused)
	}
	answers, err := c.ask(ctx, []tool.Question{q})
	if err != nil {
		return nil, err
	}
	if answers[0].Person == nil {
		return nil, protocolError(answers[0].Err)
	}
	return elicited(answers[0].Person), nil
}

// sample answers sampling/createMessage of version 2025-11-25.
func (s *calls) sample(ctx context.Context, req *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
	c, err := s.asker(tool.QuestionModel)
	if err != nil {
		return nil, err
	}
	q, refused := modelQuestion(req.Params)
	if refused != nil {
		return nil, protocolError(refused)
	}
	answers, err := c.ask(ctx, []tool.Question{q})
	if err != nil {
		return nil, err
	}
	if answers[0].Model == nil {
		return nil, protocolError(answers[0].Err)
	}
	return sampled(answers[0].Model), nil
}
