package tool

// Verdict says whether an earlier call had its effect.
type Verdict string

// The verdicts.
const (
	// VerdictUnknown: the tool does not know, or the call had a part of its effect.
	VerdictUnknown Verdict = "unknown"
	// VerdictHappened: the call had its whole effect. It is never executed again.
	VerdictHappened Verdict = "happened"
	// VerdictDidNotHappen: the call had no effect, and can have none later.
	VerdictDidNotHappen Verdict = "did_not_happen"
)

// Settlement is what a tool says about an earlier call whose outcome is unknown. The zero value
// says that the tool does not know.
type Settlement struct {
	Verdict Verdict `json:"verdict"` // empty: VerdictUnknown
	// Result is the result of the call if it happened; nil: the tool knows only that it happened. The
	// JSON form has it not, because the outcome of the call has it.
	Result *Result `json:"-"`
	// Reason is how the tool knows, in one line for people and models; may be empty.
	Reason string `json:"reason,omitempty"`
}
