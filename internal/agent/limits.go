package agent

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
)

// Well reports whether a run that ended so has done what it was asked.
func (r StopReason) Well() bool { return r == StopEndTurn || r == StopReturnDirect }

// Limits bounds a run. In an agent's configuration and in a request 0 means the default.
//
// Turns and calls are counted from the run's beginning, and anew from each user message that makes a finished run go
// on: what a person asks for gets a whole budget.
type Limits struct {
	// MaxTurns is how many responses the model may give. Default 100.
	MaxTurns int `json:"max_turns"`
	// MaxCalls is how many tool calls may be made. Default 1000.
	MaxCalls int `json:"max_calls"`
	// MaxResponseTokens is how many tokens the model may write in one response. It is raised once where a response is
	// cut. 0 means the model's own bound.
	MaxResponseTokens int `json:"max_response_tokens,omitempty"`
}

const (
	defaultMaxTurns = 100
	defaultMaxCalls = 1000
	// raisedResponseTokens is what a response may have after one was cut at the model's own bound, which nobody told
	// us: several times the bounds that providers set by default, and within what current models can write.
	raisedResponseTokens = 32_000
)

// or returns l with what is 0 taken from d.
func (l Limits) or(d Limits) Limits {
	return Limits{
		MaxTurns:          firstPositive(l.MaxTurns, d.MaxTurns, defaultMaxTurns),
		MaxCalls:          firstPositive(l.MaxCalls, d.MaxCalls, defaultMaxCalls),
		MaxResponseTokens: firstPositive(l.MaxResponseTokens, d.MaxResponseTokens, 0),
	}
}

func firstPositive(a, b, c int) int {
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
