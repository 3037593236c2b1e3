package mcpserver

import (
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/tool"
)

// promptRounds has the rounds of questions whose answers clients have not sent yet, by the state
// that the client must send back. Its zero value has none. All methods are safe for concurrent use.
//
// A state is random, like that of a call; see kept. So a client can neither read nor change what
// the plugin wants back, and the state of another principal, or of an earlier round, continues
// nothing. A round ends when its last question expires.
type promptRounds struct {
	mu  sync.Mutex
	all map[string]promptRound
}

// promptRound is a round with the request that it belongs to.
type promptRound struct {
	*tool.PromptRound
	name      string // as the client writes it
	arguments map[string]string
}

// add keeps a round and returns its state. It returns "" if there are too many.
func (p *promptRounds) add(r promptRound) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweepLocked()
	if len(p.all) >= maxKept {
		return ""
	}
	if p.all == nil {
		p.all = map[string]promptRound{}
	}
	state := "prompt-" + rand.Text()
	p.all[state] = r
	return state
}

// take removes the round with a state and returns it.
func (p *promptRounds) take(state string) (promptRound, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.all[state]
	delete(p.all, state)
	return r, ok && !r.expired(time.Now())
}

// count returns how many rounds wait.
func (p *promptRounds) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweepLocked()
	return len(p.all)
}

func (p *promptRounds) sweepLocked() {
	now := time.Now()
	maps.DeleteFunc(p.all, func(_ string, r promptRound) bool { return r.expired(now) })
}

func (r promptRound) expired(now time.Time) bool {
	return !slices.ContainsFunc(r.Questions, func(q tool.Question) bool { return q.Expires.After(now) })
}

// continuePrompt puts the round that a request continues, and its answers, into r. If an answer is
// missing or of another kind, the result asks all questions again.
func (s *Server) continuePrompt(params *mcp.GetPromptParams, r *tool.PromptRequest) (again *mcp.GetPromptResult, err error) {
	if params.RequestState == "" {
		return nil, nil // answers without a state are to questions that toolhost has not asked
	}
	round, ok := s.rounds.take(params.RequestState)
	switch {
	case !ok:
		return nil, invalid("the request state is not that of a prompt which waits for input: its questions have expired, the request was sent before, or the state was changed")
	case round.name != params.Name || !maps.Equal(round.arguments, params.Arguments):
		return nil, invalid("the request state is that of another request, which is canceled")
	}
	for i := range round.Questions {
		q := &round.Questions[i]
		answer, fits := answerOf(q, params.InputResponses[q.Key])
		if !fits {
			return s.askForPrompt(params, round.PromptRound)
		}
		r.Given = append(r.Given, answer)
	}
	r.Round = round.PromptRound
	return nil, nil
}

// askForPrompt returns the result that asks the questions of a round, and keeps the round for the
// next request.
func (s *Server) askForPrompt(params *mcp.GetPromptParams, round *tool.PromptRound) (*mcp.GetPromptResult, error) {
	result := &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{}, InputRequests: mcp.InputRequestMap{}}
	for i := range round.Questions {
		q := &round.Questions[i]
		request, err := s.wording.requestOf(q)
		if err != nil {
			return nil, requestError(tool.Errorf(tool.KindUnsupported, "%q asks for its prompt what an MCP client cannot be asked: %v", q.Plugin, err))
		}
		result.InputRequests[q.Key] = request
	}
	if result.RequestState = s.rounds.add(promptRound{round, params.Name, params.Arguments}); result.RequestState == "" {
		return nil, requestError(tool.Errorf(tool.KindRateLimited, "too many prompts wait for the answers of the MCP client"))
	}
	return result, nil
}
