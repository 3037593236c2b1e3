package hosttest

import (
	"context"

	"github.com/toolhost/toolhost/tool"
)

// askTool is the tool that asks.
const askTool = "ask"

// Asker asks the caller of a tool and returns the answer.
type Asker func(ctx context.Context, q *tool.Question) (tool.Answer, error)

type askerKey struct{}

// WithAsker returns a context for Tool.Run, with which the tool can ask.
func WithAsker(ctx context.Context, ask Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, ask)
}

// ask asks a person or a model, and returns the answer as text.
func ask(ctx context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
	a, err := parse(call)
	if err != nil {
		return tool.Result{}, err
	}
	asker, _ := ctx.Value(askerKey{}).(Asker)
	if asker == nil {
		return tool.ErrorResult("unsupported"), nil
	}
	q := &tool.Question{Person: &tool.PersonQuestion{Message: a.Message}}
	if tool.QuestionKind(a.Kind) == tool.QuestionModel {
		q = &tool.Question{Model: &tool.ModelQuestion{
			Messages: []tool.ModelMessage{{Role: tool.ModelUser, Content: []tool.Content{tool.Text(a.Message)}}}, MaxTokens: 7,
		}}
	}
	answer, err := asker(ctx, q)
	switch {
	case err != nil && ctx.Err() != nil:
		return tool.Result{}, err
	case err != nil:
		return tool.ErrorResult(string(tool.KindOf(err))), nil
	case answer.Err != nil:
		return tool.ErrorResult(string(answer.Err.Kind)), nil
	case answer.Person != nil:
		return tool.TextResult(string(answer.Person.Action) + " " + string(answer.Person.Content)), nil
	default:
		return tool.TextResult(answer.Model.Model + ": " + answer.Model.Text()), nil
	}
}
