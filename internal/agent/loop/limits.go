package loop

import "time"

// StopReason is why a run ended.
type StopReason string

// The reasons.
const (
	StopEndTurn         StopReason = "end_turn"         // the model had said all it wanted
	StopMaxTokens       StopReason = "max_tokens"       // the model's response was cut at its token limit, twice
	StopRefusal         StopReason = "refusal"          // the model refused
	StopContentFilter   StopReason = "content_filter"   // the provider withheld the response
	StopContextOverflow StopReason = "context_overflow" // the conversation no longer fits the model
	StopMaxTurns        StopReason = "max_turns"        // Limits.MaxTurns was reached
	StopMaxCalls        StopReason = "max_calls"        // Limits.MaxCalls was reached
	StopCancelled       StopReason = "cancelled"        // somebody cancelled the run
	StopModelError      StopReason = "model_error"      // the model could not be reached, or answered what cannot be used
	StopReturnDirect    StopReason = "return_direct"    // the tools' results are the answer
	StopInternalError   StopReason = "internal_error"   // a bug, or something around the run that does not answer

	StopCompleted   StopReason = "completed"     // the model said with attempt_completion that it is done
	StopTokenBudget StopReason = "token_budget"  // Limits.MaxTokens was reached
	StopCostBudget  StopReason = "cost_budget"   // Limits.MaxCost was reached
	StopWallTime    StopReason = "wall_time"     // Limits.MaxWallTime was reached
	StopOutputSize  StopReason = "output_size"   // Limits.MaxOutput was reached
	StopFailures    StopReason = "failures"      // Limits.MaxFailures was reached
	StopTimeouts    StopReason = "timeouts"      // one tool timed out again and again
	StopRepetition  StopReason = "repetition"    // the same calls had the same results again and again
	StopNoToolCalls StopReason = "no_tool_calls" // the model made no calls and did not say that it is done
)

// Well reports whether a run that ended so has done what it was asked.
func (r StopReason) Succeeded() bool {
	return r == StopEndTurn || r == StopReturnDirect || r == StopCompleted
}

// Limits bounds a run. In an agent's configuration and in a request 0 means the default. In a journal 0 means no bound,
// but for the first two fields.
//
// What is counted is counted from the run's beginning, and anew from each user message that makes a finished run go on:
// what a person asks for gets whole budgets.
type Limits struct {
	// MaxTurns is how many responses the model may give. Default 100.
	MaxTurns int `json:"max_turns"`
	// MaxCalls is how many tool calls may be made. Default 1000.
	MaxCalls int `json:"max_calls"`
	// MaxResponseTokens is how many tokens the model may write in one response. It is raised once where a response is
	// cut. 0 means the model's own bound.
	MaxResponseTokens int `json:"max_response_tokens,omitempty"`
	// MaxTokens is how many tokens, read and written, the model and the tools may use. Default: no bound.
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// MaxCost is what the model and the tools may cost, in the currency of the prices. Default: no bound.
	MaxCost float64 `json:"max_cost,omitempty"`
	// MaxWallTime is how long the run may be at work; that it waits for nothing but a person does not count. Default: no
	// bound.
	MaxWallTime time.Duration `json:"max_wall_time,omitempty"`
	// MaxOutput is how many bytes of text the tools may return in all. Default: no bound.
	MaxOutput int64 `json:"max_output,omitempty"`
	// MaxFailures is how many calls may fail in a row. Default 20.
	MaxFailures int `json:"max_failures,omitempty"`
	// MaxTimeouts is how often in a row one tool may time out before the run pauses. Default 3. A result counts too that says of
	// itself that the tool ran out of time: an error with a JSON object whose timed_out is true. A call that ran out of time while it
	// waited for its turn or for a process does not.
	MaxTimeouts int `json:"max_timeouts,omitempty"`
	// MaxRepeats is how many results in a row may be such as the run has had before, for the same tool and the same
	// arguments. Default 10: a tool that is asked now and then whether something is ready gets some patience.
	MaxRepeats int `json:"max_repeats,omitempty"`
}

const (
	defaultMaxTurns    = 100
	defaultMaxCalls    = 1000
	defaultMaxFailures = 20
	defaultMaxTimeouts = 3
	defaultMaxRepeats  = 10
	// raisedResponseTokens is what a response may have after one was cut at the model's own bound, which nobody told
	// us: several times the bounds that providers set by default, and within what current models can write.
	raisedResponseTokens = 32_000
)

// or returns l with what is 0 taken from d, and then from the defaults.
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

func FirstPositive[N int | int64 | float64 | time.Duration](a, b, c N) N {
	switch {
	case a > 0:
		return a
	case b > 0:
		return b
	}
	return c
}

// raised returns the bound of a response after one was cut.
func (l Limits) raised() int {
	if l.MaxResponseTokens == 0 {
		return raisedResponseTokens
	}
	return 2 * l.MaxResponseTokens
}
