package sdk

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// The types of questions during a call.
type (
	// PersonQuestion asks a person for values, with AskPerson.
	PersonQuestion = tool.PersonQuestion
	// PersonAnswer is what the person did.
	PersonAnswer = tool.PersonAnswer
	// PersonAction is PersonAccept, PersonDecline or PersonDismiss.
	PersonAction = tool.PersonAction
	// ModelQuestion asks the language model of the caller for a response, with Complete.
	ModelQuestion = tool.ModelQuestion
	// ModelMessage is one message of a ModelQuestion.
	ModelMessage = tool.ModelMessage
	// ModelRole is ModelUser or ModelAssistant.
	ModelRole = tool.ModelRole
	// ModelAnswer is the response of the model.
	ModelAnswer = tool.ModelAnswer
)

// What a person does with a question.
const (
	// PersonAccept means that the person gave the values.
	PersonAccept = tool.PersonAccept
	// PersonDecline means that the person refused to give them.
	PersonDecline = tool.PersonDecline
	// PersonDismiss means that the person closed the question without a choice.
	PersonDismiss = tool.PersonDismiss
)

// The authors of the messages of a ModelQuestion.
const (
	// ModelUser is the author of what the tool writes.
	ModelUser = tool.ModelUser
	// ModelAssistant is the author of what the model wrote.
	ModelAssistant = tool.ModelAssistant
)

// KindUnsupported is the kind of the Error of Ask, AskPerson and Complete if the call may not ask.
const KindUnsupported = tool.KindUnsupported

// ErrDeclined is the error of Ask if the person declined or dismissed the question. A tool that
// returns it tells the model so.
var ErrDeclined = errors.New("the person did not answer the question")

// Ask asks the person who uses the caller of the tool, and returns the answer. T is a struct: its
// fields are what the person fills in, and their tags are those of a tool's input. Use few fields
// of plain types, because a person sees one input for each. timeout is how long to wait; 0 means as
// long as toolhost permits. The deadline of the call pauses meanwhile.
//
// The error is ErrDeclined, or an *Error. Its kind is KindUnsupported if the operator does not
// permit the plugin to ask or the caller has no person, so a tool that can continue without an
// answer checks for it. It is timeout if no answer came in time. Any goroutine of the call may ask.
func Ask[T any](ctx context.Context, message string, timeout time.Duration) (answer T, err error) {
	schema, err := inputSchema(reflect.TypeFor[T]())
	if err != nil {
		return answer, fmt.Errorf("asking a person: the type of the answer cannot be used: %w", err)
	}
	given, err := AskPerson(ctx, PersonQuestion{Message: message, Schema: schema, Timeout: timeout})
	switch {
	case err != nil:
		return answer, err
	case given.Action != PersonAccept:
		return answer, ErrDeclined
	}
	if err := unmarshal(given.Content, &answer); err != nil {
		return answer, fmt.Errorf("reading the answer of a person: %w", err)
	}
	return answer, nil
}

// AskPerson is Ask with a schema that the tool has written, and with what exactly the person did.
func AskPerson(ctx context.Context, q PersonQuestion) (PersonAnswer, error) {
	answer, err := ask(ctx, &tool.Question{Person: &q})
	if err != nil {
		return PersonAnswer{}, err
	}
	if answer.Person == nil {
		return PersonAnswer{}, Internal("toolhost did not send the answer of a person")
	}
	return *answer.Person, nil
}

// Complete asks the language model of the caller for one response. The caller chooses the model and
// counts the tokens, so a tool needs no key for a model. The deadline of the call pauses meanwhile.
//
// The error is an *Error. Its kind is KindUnsupported if the operator does not permit the plugin to
// ask a model or the caller has none, and rate_limited if the caller's budget is used up.
func Complete(ctx context.Context, q ModelQuestion) (ModelAnswer, error) {
	answer, err := ask(ctx, &tool.Question{Model: &q})
	if err != nil {
		return ModelAnswer{}, err
	}
	if answer.Model == nil {
		return ModelAnswer{}, Internal("toolhost did not send the response of a model")
	}
	return *answer.Model, nil
}

// UserText returns a message of the user with a text, for ModelQuestion.Messages.
func UserText(text string) ModelMessage {
	return ModelMessage{Role: ModelUser, Content: []Content{Text(text)}}
}

func ask(ctx context.Context, q *tool.Question) (tool.Answer, error) {
	c := callOf(ctx)
	if c == nil {
		return tool.Answer{}, tool.Errorf(tool.KindUnsupported, "asking: the context is not that of a call")
	}
	answer, err := c.out.Ask(ctx, q)
	switch {
	case err != nil:
		return tool.Answer{}, tool.AsError(err)
	case answer.Err != nil:
		return tool.Answer{}, answer.Err
	}
	return answer, nil
}
