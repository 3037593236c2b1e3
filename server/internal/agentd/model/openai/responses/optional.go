package responses

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// The optional parameters of a request.
const (
	encrypted = "include"           // the reasoning in its encrypted form
	summary   = "reasoning.summary" // the reasoning for people
	store     = "store"             // that the server stores nothing
	cacheKey  = "prompt_cache_key"
)

// thoughts are the reasoning of earlier responses that the server cannot decrypt, for example
// because the account has changed since. Later reasoning has other ids and is sent. thoughts are
// safe for concurrent use. The zero value has none.
type thoughts struct {
	mu         sync.Mutex
	unreadable map[string]bool // by id
}

// mostUnreadable limits the ids in memory. Beyond it, the ids are forgotten, and each costs one
// more refused request.
const mostUnreadable = 10_000

// sends reports whether requests contain the reasoning with an id.
func (x *thoughts) sends(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.unreadable[id]
}

// refused reports whether an error refuses reasoning in the conversation that was sent until now:
// it cannot be decrypted, it is not stored, or the model does not reason. It is not sent any more.
func (x *thoughts) refused(err error, req model.Request) bool {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok {
		return false
	}
	if failed.Code == "invalid_encrypted_content" {
		return x.forget(req)
	}
	text := strings.ToLower(failed.Message)
	if strings.HasPrefix(failed.Parameter, "input") && (strings.Contains(text, "reasoning") || strings.Contains(text, "'rs_")) &&
		(failed.Status == http.StatusBadRequest || failed.Status == http.StatusNotFound) {
		return x.forget(req)
	}
	return false
}

// forget marks the reasoning of a conversation as unreadable. It returns false if all of it already
// was.
func (x *thoughts) forget(req model.Request) bool {
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
