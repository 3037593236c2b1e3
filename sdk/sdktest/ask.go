package sdktest

import (
	"context"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/tool"
)

// Answers makes the call able to ask. answer gets each question, and returns the answer: a
// PersonAnswer if Person of the question is set, a ModelAnswer if Model is set, or an Err. It runs
// on the goroutine that asks, so it must be safe for concurrent use if several goroutines of a tool
// ask. Without this option, sdk.Ask and sdk.Complete fail with the kind unsupported.
//
// The host of the test does not compare an answer with the schema of the question.
func Answers(answer func(tool.Question) tool.Answer) Option {
	return func(o *callOptions) { o.answer = answer }
}

// Ask answers a question of the tool.
func (in *incoming) Ask(ctx context.Context, q *tool.Question) (tool.Answer, error) {
	if ctx.Err() != nil {
		return tool.Answer{}, context.Cause(ctx)
	}
	if in.answer == nil {
		return tool.Answer{}, &sdk.Error{Kind: sdk.KindUnsupported, Message: "this call cannot ask; use the option sdktest.Answers"}
	}
	return in.answer(*q), nil
}
