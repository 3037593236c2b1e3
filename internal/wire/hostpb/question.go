package hostpb

import (
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

var questionEnds = map[tool.QuestionEnd]toolhostv1.QuestionEnd{
	tool.QuestionAnswered:  toolhostv1.QuestionEnd_QUESTION_END_ANSWERED,
	tool.QuestionExpired:   toolhostv1.QuestionEnd_QUESTION_END_EXPIRED,
	tool.QuestionAbandoned: toolhostv1.QuestionEnd_QUESTION_END_ABANDONED,
}

func fromQuestion(q *tool.Question) *toolhostv1.CallQuestion {
	m := &toolhostv1.CallQuestion{
		Id: q.ID, CallId: valid(q.CallID), Plugin: valid(q.Plugin), Tool: valid(q.Tool), ExpireTime: toolpb.FromTime(q.Expires),
		Key: valid(q.Key),
	}
	switch {
	case q.Person != nil:
		m.Question = &toolhostv1.CallQuestion_Person{Person: toolpb.FromPersonQuestion(q.Person)}
	case q.Model != nil:
		m.Question = &toolhostv1.CallQuestion_Model{Model: toolpb.FromModelQuestion(q.Model)}
	case q.Roots != nil:
		m.Question = &toolhostv1.CallQuestion_Roots{Roots: &toolv1.RootsQuestion{}}
	}
	return m
}

// toQuestion converts a question. It returns nil for a question of a kind that this version does
// not know.
func toQuestion(m *toolhostv1.CallQuestion) *tool.Question {
	q := &tool.Question{
		ID: m.GetId(), CallID: m.GetCallId(), Plugin: m.GetPlugin(), Tool: m.GetTool(), Expires: toolpb.ToTime(m.GetExpireTime()),
		Key: m.GetKey(),
	}
	switch v := m.GetQuestion().(type) {
	case *toolhostv1.CallQuestion_Person:
		q.Person = toolpb.ToPersonQuestion(v.Person)
	case *toolhostv1.CallQuestion_Model:
		q.Model = toolpb.ToModelQuestion(v.Model)
	case *toolhostv1.CallQuestion_Roots:
		q.Roots = &tool.RootsQuestion{}
	default:
		return nil
	}
	return q
}

func toClosed(m *toolhostv1.QuestionClosed) *tool.QuestionClosed {
	closed := &tool.QuestionClosed{ID: m.GetQuestion(), Reason: tool.QuestionAbandoned}
	for reason, value := range questionEnds {
		if value == m.GetReason() {
			closed.Reason = reason
		}
	}
	return closed
}
