package toolpb

import (
	"math"
	"slices"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/tool"
)

var personActions = pairs(map[tool.PersonAction]toolv1.PersonAction{
	tool.PersonAccept:  toolv1.PersonAction_PERSON_ACTION_ACCEPT,
	tool.PersonDecline: toolv1.PersonAction_PERSON_ACTION_DECLINE,
	tool.PersonDismiss: toolv1.PersonAction_PERSON_ACTION_DISMISS,
})

var modelRoles = pairs(map[tool.ModelRole]toolv1.ModelRole{
	tool.ModelUser:      toolv1.ModelRole_MODEL_ROLE_USER,
	tool.ModelAssistant: toolv1.ModelRole_MODEL_ROLE_ASSISTANT,
})

// FromQuestionKinds converts kinds of questions. It omits unknown ones. No kind becomes nil.
func FromQuestionKinds(kinds []tool.QuestionKind) *toolv1.QuestionKinds {
	if len(kinds) == 0 {
		return nil
	}
	return &toolv1.QuestionKinds{
		Person: slices.Contains(kinds, tool.QuestionPerson), Model: slices.Contains(kinds, tool.QuestionModel),
		Roots: slices.Contains(kinds, tool.QuestionRoots),
	}
}

// ToQuestionKinds converts kinds of questions.
func ToQuestionKinds(m *toolv1.QuestionKinds) []tool.QuestionKind {
	var kinds []tool.QuestionKind
	if m.GetPerson() {
		kinds = append(kinds, tool.QuestionPerson)
	}
	if m.GetModel() {
		kinds = append(kinds, tool.QuestionModel)
	}
	if m.GetRoots() {
		kinds = append(kinds, tool.QuestionRoots)
	}
	return kinds
}

// FromPersonQuestion converts a question for a person. nil stays nil.
func FromPersonQuestion(q *tool.PersonQuestion) *toolv1.PersonQuestion {
	if q == nil {
		return nil
	}
	return &toolv1.PersonQuestion{Message: validText(q.Message), Schema: q.Schema, Timeout: FromDuration(q.Timeout)}
}

// ToPersonQuestion converts a question for a person. nil becomes an empty question.
func ToPersonQuestion(q *toolv1.PersonQuestion) *tool.PersonQuestion {
	return &tool.PersonQuestion{Message: q.GetMessage(), Schema: rawJSON(q.GetSchema()), Timeout: ToDuration(q.GetTimeout())}
}

// FromModelQuestion converts a question for a model. nil stays nil.
func FromModelQuestion(q *tool.ModelQuestion) *toolv1.ModelQuestion {
	if q == nil {
		return nil
	}
	out := &toolv1.ModelQuestion{
		System: validText(q.System), MaxTokens: uint32(min(max(q.MaxTokens, 0), math.MaxUint32)), Timeout: FromDuration(q.Timeout),
	}
	for _, m := range q.Messages {
		out.Messages = append(out.Messages, &toolv1.ModelMessage{Role: modelRoles.from(m.Role), Content: fromContents(m.Content)})
	}
	return out
}

// ToModelQuestion converts a question for a model. nil becomes an empty question, and an unset or
// unknown role becomes tool.ModelUser.
func ToModelQuestion(q *toolv1.ModelQuestion) *tool.ModelQuestion {
	out := &tool.ModelQuestion{System: q.GetSystem(), MaxTokens: int(min(q.GetMaxTokens(), math.MaxInt32)), Timeout: ToDuration(q.GetTimeout())}
	for _, m := range q.GetMessages() {
		out.Messages = append(out.Messages, tool.ModelMessage{Role: modelRoles.to(m.GetRole(), tool.ModelUser), Content: toContents(m.GetContent())})
	}
	return out
}

// FromAnswer converts an answer.
func FromAnswer(a tool.Answer) *toolv1.Answer {
	switch {
	case a.Err != nil:
		return &toolv1.Answer{Answer: &toolv1.Answer_Error{Error: FromError(a.Err)}}
	case a.Person != nil:
		person := &toolv1.PersonAnswer{Action: personActions.from(a.Person.Action), Content: a.Person.Content}
		return &toolv1.Answer{Answer: &toolv1.Answer_Person{Person: person}}
	case a.Model != nil:
		model := &toolv1.ModelAnswer{
			Model: validText(a.Model.Model), Content: fromContents(a.Model.Content),
			StopReason: validText(a.Model.StopReason), Usage: FromUsage(a.Model.Usage),
		}
		return &toolv1.Answer{Answer: &toolv1.Answer_Model{Model: model}}
	case a.Roots != nil:
		roots := &toolv1.RootsAnswer{}
		for _, r := range a.Roots.Roots {
			roots.Roots = append(roots.Roots, &toolv1.Root{Uri: validText(r.URI), Name: validText(r.Name)})
		}
		return &toolv1.Answer{Answer: &toolv1.Answer_Roots{Roots: roots}}
	default:
		return &toolv1.Answer{}
	}
}

// ToAnswer converts an answer. An unset or unknown answer becomes the zero Answer, and an unset or
// unknown action becomes "".
func ToAnswer(a *toolv1.Answer) tool.Answer {
	switch v := a.GetAnswer().(type) {
	case *toolv1.Answer_Error:
		return tool.Answer{Err: ToError(v.Error)}
	case *toolv1.Answer_Person:
		return tool.Answer{Person: &tool.PersonAnswer{
			Action: personActions.to(v.Person.GetAction(), ""), Content: rawJSON(v.Person.GetContent()),
		}}
	case *toolv1.Answer_Model:
		return tool.Answer{Model: &tool.ModelAnswer{
			Model: v.Model.GetModel(), Content: toContents(v.Model.GetContent()),
			StopReason: v.Model.GetStopReason(), Usage: ToUsage(v.Model.GetUsage()),
		}}
	case *toolv1.Answer_Roots:
		roots := &tool.RootsAnswer{}
		for _, r := range v.Roots.GetRoots() {
			roots.Roots = append(roots.Roots, tool.Root{URI: r.GetUri(), Name: r.GetName()})
		}
		return tool.Answer{Roots: roots}
	default:
		return tool.Answer{}
	}
}

func fromContents(blocks []tool.Content) []*toolv1.Content {
	if len(blocks) == 0 {
		return nil
	}
	out := make([]*toolv1.Content, len(blocks))
	for i := range blocks {
		out[i] = FromContent(blocks[i])
	}
	return out
}

func toContents(blocks []*toolv1.Content) []tool.Content {
	if len(blocks) == 0 {
		return nil
	}
	out := make([]tool.Content, len(blocks))
	for i, b := range blocks {
		out[i] = ToContent(b)
	}
	return out
}
