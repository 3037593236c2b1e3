package question

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/text/arguments"
	"github.com/toolhost/toolhost/tool"
)

// textSchema is the schema of an answer if the tool sent none.
const textSchema = `{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}`

// Check checks what a question says, and completes it.
func (o *Open) Check(q *tool.Question) *tool.Error {
	if q.Person != nil {
		return o.checkPerson(q.Person)
	}
	if q.Roots != nil {
		return nil
	}
	messages := q.Model.Messages
	if len(messages) == 0 || messages[len(messages)-1].Role != tool.ModelUser || messages[0].Role != tool.ModelUser {
		return tool.Errorf(tool.KindInvalidArgument, "the conversation for the model must begin and end with a message of the user")
	}
	for i := range messages {
		if len(messages[i].Content) == 0 {
			return tool.Errorf(tool.KindInvalidArgument, "message %d of the conversation for the model is empty", i+1)
		}
		if err := checkContent(messages[i].Content); err != nil {
			return err
		}
	}
	return nil
}

func (o *Open) checkPerson(p *tool.PersonQuestion) *tool.Error {
	if p.Message == "" {
		return tool.Errorf(tool.KindInvalidArgument, "the question has no message")
	}
	if len(p.Schema) == 0 {
		p.Schema = json.RawMessage(textSchema)
	}
	var root struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(p.Schema, &root); err != nil || root.Type != "object" || !utf8.Valid(p.Schema) {
		return tool.Errorf(tool.KindInvalidArgument, "the schema of the answer must be a JSON Schema of type object")
	}
	schema, err := arguments.Compile(p.Schema)
	if err != nil {
		return tool.Errorf(tool.KindInvalidArgument, "the schema of the answer cannot be used: %w", err)
	}
	o.schema = schema
	return nil
}

// checkContent refuses blocks that a conversation with a model cannot contain.
func checkContent(blocks []tool.Content) *tool.Error {
	for i := range blocks {
		switch blocks[i].Kind {
		case tool.ContentText, tool.ContentImage, tool.ContentFile:
		case tool.ContentJSON:
			if !json.Valid(blocks[i].JSON) {
				return tool.Errorf(tool.KindInvalidArgument, "a JSON block of the content is not JSON")
			}
		default:
			return tool.Errorf(tool.KindInvalidArgument, "a block of the content has a kind that cannot be used here")
		}
	}
	return nil
}

// Accept returns an answer in the form for the plugin, or why it does not fit the question.
func (o *Open) Accept(a tool.Answer, most int) (tool.Answer, *tool.Error) {
	given := 0
	for _, set := range []bool{a.Person != nil, a.Model != nil, a.Roots != nil, a.Err != nil} {
		if set {
			given++
		}
	}
	switch size := answerSize(&a); {
	case given != 1:
		return a, tool.Errorf(tool.KindInvalidArgument, "an answer has exactly one of the answer of a person, that of a model, the folders of the caller, and an error")
	case size > most:
		return a, tool.Errorf(tool.KindInvalidArgument, "the answer has %d bytes; it may have %d", size, most)
	case a.Err != nil:
		return tool.Answer{Err: &tool.Error{Kind: a.Err.Kind, Message: a.Err.Message, RetryAfter: a.Err.RetryAfter}}, nil
	case a.Model != nil && o.Question.Model != nil:
		if len(a.Model.Content) == 0 {
			return a, tool.Errorf(tool.KindInvalidArgument, "the response of the model is empty")
		}
		return a, checkContent(a.Model.Content)
	case a.Person != nil && o.Question.Person != nil:
		person, err := o.acceptPerson(*a.Person)
		return tool.Answer{Person: person}, err
	case a.Roots != nil && o.Question.Roots != nil:
		return a, checkRoots(a.Roots.Roots)
	default:
		return a, tool.Errorf(tool.KindInvalidArgument, "the question asks %s, and the answer is of another kind", Whom(o.Question.Kind()))
	}
}

// maxRoots bounds the folders that a caller names.
const maxRoots = 1_000

func checkRoots(roots []tool.Root) *tool.Error {
	if len(roots) > maxRoots {
		return tool.Errorf(tool.KindInvalidArgument, "the answer names %d folders; it may name %d", len(roots), maxRoots)
	}
	for _, r := range roots {
		if !strings.HasPrefix(r.URI, "file://") || !utf8.ValidString(r.URI) || !utf8.ValidString(r.Name) {
			return tool.Errorf(tool.KindInvalidArgument, "the URI of a folder must begin with file://")
		}
	}
	return nil
}

// Whom returns what a question of a kind asks, for messages.
func Whom(kind tool.QuestionKind) string {
	if kind == tool.QuestionRoots {
		return "for the folders of the caller"
	}
	return "a " + string(kind)
}

func (o *Open) acceptPerson(a tool.PersonAnswer) (*tool.PersonAnswer, *tool.Error) {
	switch a.Action {
	case tool.PersonAccept:
	case tool.PersonDecline, tool.PersonDismiss:
		if len(a.Content) > 0 {
			return nil, tool.Errorf(tool.KindInvalidArgument, "an answer with the action %s has no content", a.Action)
		}
		return &a, nil
	default:
		return nil, tool.Errorf(tool.KindInvalidArgument, "the answer of a person needs one of the actions accept, decline and dismiss")
	}
	parsed, err := arguments.Parse(a.Content)
	if err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the answer must be a JSON object: %w", err)
	}
	if err := o.schema.Validate(parsed); err != nil {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the answer does not fit the question:\n%w", err)
	}
	a.Content = parsed.Canonical()
	return &a, nil
}

// Size returns the size of what the tool wrote, in bytes.
func Size(q *tool.Question) int {
	if q.Person != nil {
		return len(q.Key) + len(q.Person.Message) + len(q.Person.Schema)
	}
	size := len(q.Key)
	if q.Model == nil {
		return size
	}
	size += len(q.Model.System)
	for i := range q.Model.Messages {
		size += contentSize(q.Model.Messages[i].Content)
	}
	return size
}

func answerSize(a *tool.Answer) int {
	switch {
	case a.Person != nil:
		return len(a.Person.Content)
	case a.Model != nil:
		return len(a.Model.Model) + len(a.Model.StopReason) + contentSize(a.Model.Content)
	case a.Roots != nil:
		size := 0
		for _, r := range a.Roots.Roots {
			size += len(r.URI) + len(r.Name)
		}
		return size
	default:
		return 0
	}
}

func contentSize(blocks []tool.Content) int {
	const fixed = 16 // an empty block is not free
	size := 0
	for i := range blocks {
		c := &blocks[i]
		size += fixed + len(c.Text) + len(c.JSON) + len(c.Data) + len(c.Name) + len(c.MediaType) + len(c.URI)
	}
	return size
}
