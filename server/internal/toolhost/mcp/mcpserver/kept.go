package mcpserver

import (
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxKept bounds the calls of one principal that wait for the next request of their client.
const maxKept = 64

// statePrefix begins the request state of a call that waits. It tells such a state from the digest
// that an approval has.
const statePrefix = "call-"

// kept has the calls that wait for the next request of their client, by the state that the client
// must send back. Its zero value has none. All methods are safe for concurrent use.
//
// A state is random and stands for one round, and another principal has another Server. So a client
// can neither guess a state nor use it twice. A call whose client does not come back ends when its
// last question expires.
type kept struct {
	mu  sync.Mutex
	all map[string]waiting
}

type waiting struct {
	*conversation
	requested string // the call id that the client chose; empty: none
	expiry    *time.Timer
}

// add keeps a conversation, and returns the state by which take finds it. It returns "" if there
// are too many.
func (k *kept) add(c *conversation, requested string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.all) >= maxKept {
		return ""
	}
	if k.all == nil {
		k.all = map[string]waiting{}
	}
	state := statePrefix + rand.Text()
	var last time.Time
	for _, a := range c.open {
		if a.question.Expires.After(last) {
			last = a.question.Expires
		}
	}
	expiry := time.AfterFunc(time.Until(last), func() { // take stops it
		if w, ok := k.take(state); ok {
			w.execution.Close()
		}
	})
	k.all[state] = waiting{c, requested, expiry}
	return state
}

// take removes the conversation with a state and returns it.
func (k *kept) take(state string) (waiting, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w, ok := k.all[state]
	if ok {
		delete(k.all, state)
		w.expiry.Stop()
	}
	return w, ok
}

// count returns how many calls wait.
func (k *kept) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.all)
}

// close ends all calls that wait, as if their clients had left.
func (k *kept) close() {
	k.mu.Lock()
	all := k.all
	k.all = nil
	k.mu.Unlock()
	for _, w := range all {
		w.expiry.Stop()
		w.execution.Close()
	}
}

// resume returns the conversation that a request continues. It returns nil if the request begins
// one.
func (s *Server) resume(req *mcp.CallToolRequest) (c *conversation, requested string, err error) {
	state := req.Params.RequestState
	if !strings.HasPrefix(state, statePrefix) {
		return nil, "", nil
	}
	call, err := s.callOf(req)
	if err != nil {
		return nil, "", err
	}
	w, ok := s.kept.take(state)
	switch {
	case !ok:
		return nil, "", invalid("the request state is not that of a call which waits for input: the call has ended, the request was sent before, or the state was changed")
	case !w.sameRequest(&call, w.requested):
		w.execution.Close()
		return nil, "", invalid("the request state is that of another call, which is canceled")
	}
	return w.conversation, w.requested, nil
}

// keep returns the result that asks the open questions of a call, and keeps the call for the next
// request. It returns nil if the principal has too many calls that wait.
func (s *Server) keep(c *conversation, requested string) *mcp.CallToolResult {
	r := &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{}}
	for _, a := range c.open {
		r.InputRequests[a.name] = s.again(a)
	}
	if r.RequestState = s.kept.add(c, requested); r.RequestState == "" {
		return nil
	}
	return r
}

// again returns what asks a question. It tells a person why the last answer did not fit.
func (s *Server) again(a *asking) mcp.InputRequest {
	form, ok := a.request.(*mcp.ElicitParams)
	if !ok || a.problem == "" {
		return a.request
	}
	repeated := *form
	repeated.Message = s.config.Visible("The last answer was not accepted: "+a.problem) + "\n\n" + form.Message
	return &repeated
}

// Waiting returns how many calls and prompts wait for the next request of their client.
func (s *Server) Waiting() int { return s.kept.count() + s.rounds.count() }
