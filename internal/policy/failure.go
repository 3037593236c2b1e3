package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// failure says why a rule could not be evaluated, without quoting the arguments. CEL's messages may
// quote them, and decisions are logged and sent to callers.
func (r *compiledRule) failure(err error) string {
	return fmt.Sprintf("the rule %q could not be evaluated for this call, which denies it: %s", r.Name, r.cause(err))
}

func (r *compiledRule) cause(err error) string {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return "the time was up"
	}
	message := err.Error()
	if key, ok := strings.CutPrefix(message, "no such key: "); ok {
		if r.names(key) {
			return fmt.Sprintf("there is no %q; an expression can ask with has() first", key)
		}
		return "a key that it looks up is not there"
	}
	for _, known := range []struct{ begins, meaning string }{
		{"operation interrupted", "the time was up"},
		{errTooManySteps.Error(), errTooManySteps.Error()},
		{errLongPattern.Error(), errLongPattern.Error()},
		{"operation cancelled: actual cost limit exceeded", "it takes too many steps"},
		{"no such overload", "a value is not of the type that its expression is for"},
		{"index out of bounds", "a list is shorter than its expression expects"},
		{"reading the arguments", "the arguments are not a JSON object"},
		{"reading the context", "a value of the call's context is not JSON"},
	} {
		if strings.HasPrefix(message, known.begins) {
			return known.meaning
		}
	}
	return "its expression fails; `toolhost policy test` shows how"
}

// names reports whether the expression itself contains a key. Its author knows such a key, so that
// it is not a secret.
func (r *compiledRule) names(key string) bool { return key != "" && strings.Contains(r.When, key) }
