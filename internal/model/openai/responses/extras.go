package responses

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/internal/model/openai/wire"
)

// extras are the parts of a request that improve a response, but that some models and accounts
// refuse: encrypted reasoning, its summaries, and the reasoning of earlier responses. No API says in
// advance what it refuses, so a model asks for all of them until its server refuses one.
//
// What the caller asked for is no extra: an error about it reaches the caller. extras are safe for
// concurrent use. The zero value allows everything.
type extras struct {
	mu          sync.Mutex
	noEncrypted bool
	noSummary   bool
	// unreadable has the ids of reasoning that the server cannot decrypt, for example because the
	// account has changed since. Later reasoning has other ids and is sent.
	unreadable map[string]bool
}

// mostUnreadable limits the ids in memory. Beyond it, the ids are forgotten, and each costs one more
// refused request.
const mostUnreadable = 10_000

func (x *extras) allowed() (encrypted, summary bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.noEncrypted, !x.noSummary
}

// sends reports whether requests contain the reasoning with an id.
func (x *extras) sends(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.unreadable[id]
}

// refused reports whether an error refuses an extra that the request had, and switches it off.
func (x *extras) refused(err error, req model.Request) bool {
	param := wire.RefusedParam(err)
	switch {
	case param == "include":
		return x.switchOff(&x.noEncrypted)
	case strings.HasPrefix(param, "reasoning.summary"), strings.HasPrefix(param, "reasoning") && req.Sampling.Effort == "":
		return x.switchOff(&x.noSummary)
	case refusesReasoning(err, param):
		return x.forget(req)
	}
	return false
}

func (x *extras) switchOff(extra *bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	was := *extra
	*extra = true
	return !was
}

// refusesReasoning detects the refusal of reasoning in the conversation: it cannot be decrypted, it
// is not stored, or the model does not reason.
func refusesReasoning(err error, param string) bool {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok {
		return false
	}
	if failed.Code == "invalid_encrypted_content" {
		return true
	}
	text := strings.ToLower(failed.Message)
	return strings.HasPrefix(param, "input") && (strings.Contains(text, "reasoning") || strings.Contains(text, "'rs_")) &&
		(failed.Status == http.StatusBadRequest || failed.Status == http.StatusNotFound)
}

// forget marks the reasoning of a conversation as unreadable. It returns false if all of it already
// was.
func (x *extras) forget(req model.Request) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.unreadable == nil || len(x.unreadable) > mostUnreadable {
		x.unreadable = make(map[string]bool)
	}
	found := false
	for _, message := range req.Messages {
		for _, block := range message.Blocks {
			if r := readKept(block); r.Type == keptReasoning && !x.unreadable[r.ID] {
				x.unreadable[r.ID], found = true, true
			}
		}
	}
	return found
}
