package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// conversation is a call during the requests of its client that belong to it. There are several
// only in version 2026-07-28, if the tool asks: each request but the last ends with questions, and
// the next one has the answers. Earlier versions let the server ask while the one request is in
// progress.
//
// A request owns the conversation. Between two requests, Server.kept owns it.
type conversation struct {
	server    *Server
	call      tool.Call
	execution tool.Execution
	approved  bool      // the first request had the answer to an approval
	open      []*asking // questions without an answer; only in 2026-07-28
}

// asking is a question with its name and its form in the messages of the protocol.
type asking struct {
	name     string
	question *tool.Question
	request  mcp.InputRequest
	problem  string // why the last answer did not fit; empty: there was none
}

// gatherTime is how long a question waits for others that the tool asks with it, so that the client
// gets them in one result.
const gatherTime = 100 * time.Millisecond

// openCall opens a call as the first request of its conversation.
func (s *Server) openCall(ctx context.Context, req *mcp.CallToolRequest, call tool.Call, approved bool) (*conversation, error) {
	if len(call.Answers) == 0 {
		call.OutcomeOnly = !newEvents(req, s.logs.Load()).wanted()
		execution, err := s.config.Tools.Open(ctx, call, true)
		return &conversation{server: s, call: call, execution: execution, approved: approved}, err
	}
	// The call can outlive its first request, so only opening it ends with the request.
	opening, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	execution, err := s.config.Tools.Open(opening, call, true)
	if err != nil {
		cancel()
		return nil, err
	}
	return &conversation{server: s, call: call, execution: closing{execution, cancel}, approved: approved}, nil
}

// closing is an execution that ends its context.
type closing struct {
	tool.Execution
	cancel context.CancelFunc
}

func (c closing) Close() {
	c.Execution.Close() // cancels a call whose id the host generated
	c.cancel()
}

// sameRequest reports whether a later request repeats the call.
func (c *conversation) sameRequest(call *tool.Call, requested string) bool {
	return c.call.Tool == call.Tool && requested == call.ID && bytes.Equal(canonical(c.call.Arguments), canonical(call.Arguments))
}

// canonical returns JSON in a form that does not depend on spaces and on the order of members.
func canonical(text json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return text
	}
	again, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return again
}

// next follows the call until it ends, or until its client has to answer in another request: then
// the outcome is nil. early are the answers of the request to questions that the tool has not asked
// yet. An error means that the client expects no answer.
func (c *conversation) next(ctx context.Context, req *mcp.CallToolRequest, early mcp.InputResponseMap) (*tool.Outcome, error) {
	asker := &asker{conversation: c, session: req.Session, early: maps.Clone(early), sessionless: req.ProtocolVersion() >= stateless}
	defer asker.stop()
	events, wait := newEvents(req, c.server.logs.Load()), ctx
	for {
		if len(c.open) > 0 && wait == ctx {
			gathering, cancel := context.WithTimeout(ctx, gatherTime)
			defer cancel()
			wait = gathering
		}
		event, err := c.execution.Next(wait)
		switch {
		case err == nil && event.Ended != nil:
			return event.Ended, nil
		case err == nil && event.Question != nil:
			asker.ask(ctx, event.Question)
		case err == nil && event.Closed != nil:
			asker.closed(event.Closed.ID)
		case err == nil:
			events.pass(ctx, event)
		case ctx.Err() != nil:
			if !left(ctx, req) {
				c.execution.Cancel("the MCP client cancelled the request")
			}
			return nil, ctx.Err()
		case wait.Err() != nil && len(c.open) > 0:
			return nil, nil
		case wait.Err() != nil:
			wait = ctx // the questions have closed
		default:
			return &tool.Outcome{CallID: c.call.ID, Err: tool.AsError(err)}, nil
		}
	}
}

// answer gives the answers of a request to the open questions of the call. Questions without an
// answer that fits stay open, so that the client is asked again. An error is that of the request.
func (c *conversation) answer(ctx context.Context, given mcp.InputResponseMap) error {
	var left []*asking
	for _, a := range c.open {
		response, ok := given[a.name]
		if !ok {
			left = append(left, a)
			continue
		}
		answer, fits := answerOf(a.question, response)
		if !fits {
			a.problem = "it is of another kind"
			left = append(left, a)
			continue
		}
		switch err := c.server.reply(ctx, a.question, answer); tool.KindOf(err) {
		case "", tool.KindNotFound: // the question may have expired
		case tool.KindInvalidArgument:
			a.problem = tool.AsError(err).Message
			left = append(left, a)
		default:
			return requestError(err)
		}
	}
	c.open = left
	return nil
}

// refuse answers the open questions with an error.
func (c *conversation) refuse(ctx context.Context, reason *tool.Error) {
	for _, a := range c.open {
		_ = c.server.reply(ctx, a.question, tool.Answer{Err: reason}) // a question that has closed needs none
	}
	c.open = nil
}

// reply answers a question of a call.
func (s *Server) reply(ctx context.Context, q *tool.Question, answer tool.Answer) error {
	return s.config.Tools.AnswerQuestion(ctx, tool.CallKey{Session: s.config.Session, ID: q.CallID}, q.ID, answer)
}

// asker passes the questions of a call to its client, during one request.
type asker struct {
	*conversation
	session     *mcp.ServerSession
	early       mcp.InputResponseMap // what the client has answered before it was asked
	sessionless bool

	asking sync.WaitGroup                // of requests to the client; each ends with its answer or its context
	stops  map[uint32]context.CancelFunc // ends the request to the client, by question
}

// ask handles a question of the tool. It does not block.
func (a *asker) ask(ctx context.Context, q *tool.Question) {
	request, err := a.server.wording.requestOf(q)
	if err != nil {
		_ = a.server.reply(ctx, q, tool.Answer{Err: tool.Errorf(tool.KindUnsupported, "an MCP client cannot be asked this: %v", err)})
		return
	}
	asked := &asking{name: a.nameOf(q), question: q, request: request}
	if a.sessionless {
		a.askLater(ctx, asked)
		return
	}
	if a.stops == nil {
		a.stops = map[uint32]context.CancelFunc{}
	}
	ctx, stop := context.WithCancel(ctx)
	a.stops[q.ID] = stop
	a.asking.Go(func() {
		defer stop()
		if answer := asked.send(ctx, a.session); ctx.Err() == nil {
			if err := a.server.reply(ctx, q, answer); tool.KindOf(err) == tool.KindInvalidArgument {
				// The client does not check what its user enters, and would not do so the next time.
				_ = a.server.reply(ctx, q, tool.Answer{Err: tool.Errorf(tool.KindUnavailable, "the answer of the MCP client does not fit: %v", err)})
			}
		}
	})
}

// askLater makes a question one of the result, unless the request already has its answer.
func (a *asker) askLater(ctx context.Context, asked *asking) {
	if response, ok := a.early[asked.name]; ok {
		delete(a.early, asked.name) // one answer is for one question
		if answer, fits := answerOf(asked.question, response); fits && tool.KindOf(a.server.reply(ctx, asked.question, answer)) != tool.KindInvalidArgument {
			return
		}
	}
	a.open = append(a.open, asked)
}

// closed ends what asks a question that takes no answer any more.
func (a *asker) closed(id uint32) {
	if stop := a.stops[id]; stop != nil {
		stop()
		delete(a.stops, id)
	}
	for i, open := range a.open {
		if open.question.ID == id {
			a.open = append(a.open[:i:i], a.open[i+1:]...)
			return
		}
	}
}

// stop ends the requests to the client, and waits for that.
func (a *asker) stop() {
	for _, stop := range a.stops {
		stop()
	}
	a.asking.Wait()
}
