package gemini

import (
	"cmp"

	"google.golang.org/genai"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

// finish reads the finish reason of an event.
func (a *answer) finish(reason genai.FinishReason, message string) {
	switch {
	case reason == "" || reason == genai.FinishReasonUnspecified:
		return
	case !known(reason):
		a.unknown = cmp.Or(a.unknown, reason)
	default:
		a.reason = reason
	}
	a.detail = message
}

func known(reason genai.FinishReason) bool {
	return reason == genai.FinishReasonStop || reason == genai.FinishReasonMaxTokens || filtered(reason)
}

// filtered reports whether the API withholds the response because of its content.
func filtered(reason genai.FinishReason) bool {
	switch reason {
	case genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonLanguage, genai.FinishReasonBlocklist,
		genai.FinishReasonProhibitedContent, genai.FinishReasonSPII, genai.FinishReasonImageSafety,
		genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation:
		return true
	}
	return false
}

// response returns the complete response after the last event.
func (a *answer) response(seen *exchange) (*model.Response, error) {
	if !a.begun && !seen.isEventStream() {
		return nil, seen.noStream()
	}
	response := &model.Response{Message: model.Message{Role: model.RoleAssistant, Blocks: a.blocks}, Usage: a.usage}
	var err error
	if response.StopReason, err = a.stopReason(); err != nil {
		return nil, err
	}
	return response, nil
}

// stopReason translates the finish reason, or returns an error that discards the response.
// docs/models.md has the table.
func (a *answer) stopReason() (model.StopReason, error) {
	switch {
	case a.unknown != "":
		return "", a.unfinished()
	case a.blocked, filtered(a.reason):
		return model.StopContentFilter, nil
	case a.reason == genai.FinishReasonMaxTokens:
		return model.StopMaxTokens, nil
	case a.reason == "":
		return "", &model.Error{Message: "Gemini's stream ended before its last event", Retryable: true}
	case len(a.ids) > 0:
		return model.StopToolUse, nil
	}
	return model.StopEndTurn, nil
}

// unfinished is the error for a reason that says that the response is unusable, such as a call that
// the API could not read, and for a reason that the package does not know.
func (a *answer) unfinished() error {
	switch a.unknown {
	case genai.FinishReasonMalformedFunctionCall, genai.FinishReasonUnexpectedToolCall, genai.FinishReasonTooManyToolCalls:
		return &model.Error{
			Code: string(a.unknown), Retryable: true, Malformed: true,
			Message: "Gemini discarded the model's function call: " + problem{body: cmp.Or(a.detail, string(a.unknown))}.message(),
		}
	}
	return model.UnknownStop(string(a.unknown))
}
