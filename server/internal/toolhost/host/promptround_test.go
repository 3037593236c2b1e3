package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/tool"
)

// asksFirst is a prompt that asks the same question until it has an answer with the name that ends.
func asksFirst(message, state, end string) func(tool.PromptRequest) (tool.PromptText, error) {
	return func(r tool.PromptRequest) (tool.PromptText, error) {
		if r.Round != nil {
			if content := string(r.Given[0].Person.Content); strings.Contains(content, end) {
				return tool.PromptText{Messages: []tool.PromptMessage{{Role: tool.PromptUser, Content: tool.Text(r.Round.State + content)}}}, nil
			}
		}
		return tool.PromptText{Round: &tool.PromptRound{State: state, Questions: []tool.Question{{Key: "who", Person: &tool.PersonQuestion{Message: message}}}}}, nil
	}
}

func reply(content string) []tool.Answer {
	return []tool.Answer{{Person: &tool.PersonAnswer{Action: tool.PersonAccept, Content: json.RawMessage(content)}}}
}

// A plugin may ask before it fills in a prompt, within the grant and the bounds of questions. It
// gets its state and answers that fit.
func TestPromptAsks(t *testing.T) {
	person := []tool.QuestionKind{tool.QuestionPerson}
	granted := func(c *host.Config) {
		c.Asks, c.Questions = mayAskAll, question.Limits{PerCall: 2, Bytes: 1000}
	}
	greet := tool.PromptRequest{Name: "greet", Answers: person}
	for name, test := range map[string]struct {
		change         func(*host.Config)
		answers        []tool.QuestionKind
		message, state string
		want           tool.Kind
	}{
		"permitted":               {granted, person, "Who?", "s", ""},
		"without the grant":       {nil, person, "Who?", "s", tool.KindUnsupported},
		"a caller without person": {granted, []tool.QuestionKind{tool.QuestionModel}, "Who?", "s", tool.KindUnsupported},
		"a long question":         {granted, person, strings.Repeat("x", 2000), "s", tool.KindInvalidArgument},
		"an empty question":       {granted, person, "", "s", tool.KindInvalidArgument},
		"a long state":            {granted, person, "Who?", strings.Repeat("x", 1<<20), tool.KindInternal},
	} {
		r := newShelf(t, &shelf{prompt: asksFirst(test.message, test.state, "Ada")}, test.change)
		first := greet
		first.Answers = test.answers
		text, err := r.GetPrompt(t.Context(), first)
		if got := tool.KindOf(err); got != test.want || (err == nil) != (text.Round != nil) {
			t.Errorf("%s: %+v, %v", name, text, err)
		}
	}

	r := newShelf(t, &shelf{prompt: asksFirst("Who?", "the state ", "Ada")}, granted)
	text, err := r.GetPrompt(t.Context(), greet)
	if err != nil || text.Round.Questions[0].Plugin == "" || len(text.Round.Questions[0].Person.Schema) == 0 {
		t.Fatalf("%+v, %v", text, err)
	}
	again := greet
	again.Round = text.Round
	for _, given := range [][]tool.Answer{nil, reply(`{"answer":7}`), reply(`{}`), {{Roots: &tool.RootsAnswer{}}}} {
		if again.Given = given; tool.KindOf(second(r.GetPrompt(t.Context(), again))) != tool.KindInvalidArgument {
			t.Errorf("the answers %+v were accepted", given)
		}
	}
	again.Given = reply(`{"answer":"Bea"}`)
	if text, err = r.GetPrompt(t.Context(), again); err != nil || text.Round == nil || text.Round.Asked != 2 {
		t.Fatalf("the second round: %+v, %v", text, err)
	}
	again.Round = text.Round
	if _, err := r.GetPrompt(t.Context(), again); tool.KindOf(err) != tool.KindRateLimited {
		t.Errorf("a third question of two: %v", err)
	}
	again.Given = reply(`{"answer":"Ada"}`)
	if text, err = r.GetPrompt(t.Context(), again); err != nil || text.Messages[0].Content.Text != `the state {"answer":"Ada"}` {
		t.Errorf("the end: %+v, %v", text, err)
	}
}

func second[T any](_ T, err error) error { return err }
