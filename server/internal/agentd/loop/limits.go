package loop

import "time"

// StopReason says why a run ended.
type StopReason string

// The reasons.
const (
	StopEndTurn         StopReason = "end_turn"         // the model finished its answer
	StopMaxTokens       StopReason = "max_tokens"       // a response reached its token limit twice
	StopRefusal         StopReason = "refusal"          // the model refused
	StopContentFilter   StopReason = "content_filter"   // the provider withheld the response
	StopContextOverflow StopReason = "context_overflow" // the conversation no longer fits the model
	StopMaxTurns        StopReason = "max_turns"        // Limits.MaxTurns was reached
	StopMaxCalls        StopReason = "max_calls"        // Limits.MaxCalls was reached
	StopCancelled       StopReason = "cancelled"        // a user cancelled the run
	StopModelError      StopReason = "model_error"      // no usable response from the model
	StopReturnDirect    StopReason = "return_direct"    // the tools' results are the answer
	// a bug, or a component that does not answer
	StopInternalError StopReason = "internal_error"

	// the model called attempt_completion, or its answer fits the response schema
	StopCompleted   StopReason = "completed"
	StopTokenBudget StopReason = "token_budget"  // Limits.MaxTokens was reached
	StopCostBudget  StopReason = "cost_budget"   // Limits.MaxCost was reached
	StopWallTime    StopReason = "wall_time"     // Limits.MaxWallTime was reached
	StopOutputSize  StopReason = "output_size"   // Limits.MaxOutput was reached
	StopFailures    StopReason = "failures"      // Limits.MaxFailures was reached
	StopTimeouts    StopReason = "timeouts"      // one tool timed out repeatedly
	StopRepetition  StopReason = "repetition"    // the same calls had the same results repeatedly
	StopNoToolCalls StopReason = "no_tool_calls" // no calls and no attempt_completion
	// the answer did not fit the response schema, also after the repairs
	StopInvalidAnswer StopReason = "invalid_answer"
	// two responses in a row had neither text nor a call
	StopEmptyResponse StopReason = "empty_response"
	// two responses in a row were a tool call as text, in the markup of a model
	StopCallAsText StopReason = "call_as_text"
)

// StopReasons returns all stop reasons.
func StopReasons() []StopReason {
	return []StopReason{
		StopEndTurn, StopMaxTokens, StopRefusal, StopContentFilter, StopContextOverflow, StopMaxTurns, StopMaxCalls, StopCancelled, StopModelError,
		StopReturnDirect, StopInternalError, StopCompleted, StopTokenBudget, StopCostBudget, StopWallTime, StopOutputSize, StopFailures, StopTimeouts,
		StopRepetition, StopNoToolCalls, StopInvalidAnswer, StopEmptyResponse, StopCallAsText,
	}
}

// Succeeded reports whether a run with this stop reason did what it was asked.
func (r StopReason) Succeeded() bool {
	return r == StopEndTurn || r == StopReturnDirect || r == StopCompleted
}

// Limits bounds a run. In an agent's configuration and in a request, 0 means the default. In a
// journal, 0 means no limit, except for the first two fields.
//
// Counting begins with the run and again with each user message that continues a finished run.
type Limits struct {
	// MaxTurns is the largest number of responses of the model. Default 100.
	MaxTurns int `json:"max_turns"`
	// MaxCalls is the largest number of tool calls. Default 1000.
	MaxCalls int `json:"max_calls"`
	// MaxResponseTokens is the largest number of tokens in one response. It is raised once after a
	// response was cut. 0 means the model's own limit.
	MaxResponseTokens int `json:"max_response_tokens,omitempty"`
	// MaxTokens is the largest number of tokens, input and output, of the model and the tools.
	// Default: no limit.
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// MaxCost is the largest cost of the model and the tools, in the currency of the prices.
	// Default: no limit.
	MaxCost float64 `json:"max_cost,omitempty"`
	// MaxWallTime is how long the run may work. Waiting only for a person does not count. Default:
	// no limit.
	MaxWallTime time.Duration `json:"max_wall_time,omitempty"`
	// MaxOutput is the largest number of bytes of text that the tools return in total. Default: no
	// limit.
	MaxOutput int64 `json:"max_output,omitempty"`
	// MaxFailures is the largest number of failed calls in a row. Default 20.
	MaxFailures int `json:"max_failures,omitempty"`
	// MaxTimeouts is how often in a row one tool may time out before the run pauses. Default 3. A
	// result also counts if it is an error with a JSON object whose timed_out is true. A call that
	// timed out while it waited for its turn or for a process does not count.
	MaxTimeouts int `json:"max_timeouts,omitempty"`
	// MaxRepeats is how many results in a row may repeat earlier results of the same tool with the
	// same arguments. Default 10, so that a tool can be polled for a while.
	MaxRepeats int `json:"max_repeats,omitempty"`
}

const (
	defaultMaxTurns    = 100
	defaultMaxCalls    = 1000
	defaultMaxFailures = 20
	defaultMaxTimeouts = 3
	defaultMaxRepeats  = 10
	// raisedResponseTokens is the token limit after a response was cut at the model's own, unknown
	// limit: several times the usual defaults of providers, and within what current models can
	// write.
	raisedResponseTokens = 32_000
)

// Or returns l with zero fields taken from d, and then from the defaults.
func (l Limits) Or(d Limits) Limits {
	return Limits{
		MaxTurns:          FirstPositive(l.MaxTurns, d.MaxTurns, defaultMaxTurns),
		MaxCalls:          FirstPositive(l.MaxCalls, d.MaxCalls, defaultMaxCalls),
		MaxResponseTokens: FirstPositive(l.MaxResponseTokens, d.MaxResponseTokens, 0),
		MaxTokens:         FirstPositive(l.MaxTokens, d.MaxTokens, 0),
		MaxCost:           FirstPositive(l.MaxCost, d.MaxCost, 0),
		MaxWallTime:       FirstPositive(l.MaxWallTime, d.MaxWallTime, 0),
		MaxOutput:         FirstPositive(l.MaxOutput, d.MaxOutput, 0),
		MaxFailures:       FirstPositive(l.MaxFailures, d.MaxFailures, defaultMaxFailures),
		MaxTimeouts:       FirstPositive(l.MaxTimeouts, d.MaxTimeouts, defaultMaxTimeouts),
		MaxRepeats:        FirstPositive(l.MaxRepeats, d.MaxRepeats, defaultMaxRepeats),
	}
}

// Exceeds reports whether a field of l is above that of d. A field of d that is 0 is no limit.
func (l Limits) Exceeds(d Limits) bool {
	return above(l.MaxTurns, d.MaxTurns) || above(l.MaxCalls, d.MaxCalls) || above(l.MaxResponseTokens, d.MaxResponseTokens) ||
		above(l.MaxTokens, d.MaxTokens) || above(l.MaxCost, d.MaxCost) || above(l.MaxWallTime, d.MaxWallTime) || above(l.MaxOutput, d.MaxOutput) ||
		above(l.MaxFailures, d.MaxFailures) || above(l.MaxTimeouts, d.MaxTimeouts) || above(l.MaxRepeats, d.MaxRepeats)
}

func above[N int | int64 | float64 | time.Duration](n, limit N) bool { return limit > 0 && n > limit }

// Within returns l with the budgets of d where they are smaller: tokens, cost, time and output.
// They are what the sub-runs of a run use together with the run.
func (l Limits) Within(d Limits) Limits {
	l.MaxTokens, l.MaxCost = smaller(l.MaxTokens, d.MaxTokens), smaller(l.MaxCost, d.MaxCost)
	l.MaxWallTime, l.MaxOutput = smaller(l.MaxWallTime, d.MaxWallTime), smaller(l.MaxOutput, d.MaxOutput)
	return l
}

// smaller returns the smaller of two limits, of which 0 is none.
func smaller[N int64 | float64 | time.Duration](a, b N) N {
	if a > 0 && (b <= 0 || a < b) {
		return a
	}
	return b
}

// FirstPositive returns the first of its arguments that is above 0, or the last one.
func FirstPositive[N int | int64 | float64 | time.Duration](a, b, c N) N {
	switch {
	case a > 0:
		return a
	case b > 0:
		return b
	}
	return c
}

// raised returns the token limit for responses after one was cut.
func (l Limits) raised() int {
	if l.MaxResponseTokens == 0 {
		return raisedResponseTokens
	}
	return 2 * l.MaxResponseTokens
}
