package mcpclient

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A server that lost its sessions, such as one that was started again, takes no request of them.
// The protocol demands the status 404 for that. Widely used servers answer with another status, or
// with 200 and an error, so their words are read, too.

// lostSession matches the words by which servers refuse a session that they do not know. They begin
// the message, so that an error that only mentions a session is not one of these.
var lostSession = regexp.MustCompile(`(?i)^(?:(?:bad request|unauthorized|forbidden|not found|invalid request|gone|error)[:,.]? *)*` +
	`(?:(?:the )?(?:mcp[- ])?session(?:[- ]id)?(?: header)?(?:[: ]+["'(]?[\w.:-]{1,128}["')]?)??[: ]+(?:is |was |has |has been |does |no longer |or )*` +
	`(?:not found|not valid|invalid|unknown|expired|terminated|closed|not exist|exists|not initialized|missing|required|not recognized|unrecognized)` +
	`|(?:no|no such|no valid|no active|invalid|unknown|missing|expired|unrecognized|stale)(?: or (?:missing|invalid|expired|unknown))? (?:mcp[- ])?session` +
	`|server (?:is )?not initialized)`)

// refusesSession reports whether an answer with a status of failure says that the server does not
// know the session of the request.
func refusesSession(status int, body []byte) bool {
	code, message := problemIn(body)
	return status == http.StatusNotFound || lostSession.MatchString(message) ||
		status == http.StatusBadRequest && code <= -32_000 && code > -32_100 && strings.Contains(strings.ToLower(message), "session")
}

// problemIn returns code and message of an error in a body: of JSON-RPC, whatever id it has, of a
// common form of JSON, or as plain text. code is 0 if there is none.
func problemIn(body []byte) (code int64, message string) {
	var m struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &m) != nil {
		return 0, strings.TrimSpace(string(body))
	}
	var detail struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(m.Error, &detail) == nil && detail.Message != "" {
		return detail.Code, detail.Message
	}
	for _, text := range []json.RawMessage{m.Error, m.Message, m.Detail} {
		if json.Unmarshal(text, &message) == nil && message != "" {
			return 0, message
		}
	}
	return 0, ""
}

// lostBy reports whether an answer with the status of success says that the server does not know
// the session. Only codes with which a server refuses a request count, because a tool that has
// begun its work may have sessions of its own.
func lostBy(answer *jsonrpc.Response, s sent) bool {
	refusal, ok := answer.Error.(*jsonrpc.Error)
	return ok && s.session && slices.Contains([]int64{jsonrpc.CodeInvalidRequest, -32_001}, refusal.Code) && lostSession.MatchString(refusal.Message)
}
