package offers

import (
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/tool"
)

// maxPromptState bounds the state of a round of questions, which the caller keeps for the plugin.
const maxPromptState = 64 << 10

// permitted returns the kinds of questions that the operator permits a plugin and a caller answers.
func permitted(settings *Settings, plugin string, answers []tool.QuestionKind) []tool.QuestionKind {
	if settings.Asks == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(settings.Asks(plugin)), func(kind tool.QuestionKind) bool { return !slices.Contains(answers, kind) })
}

// acceptGiven returns the answers of a request in the form for the plugin. It checks them as
// AnswerQuestion does, against the questions of the round that the request continues.
func acceptGiven(settings *Settings, r *tool.PromptRequest) ([]tool.Answer, error) {
	if r.Round == nil {
		if len(r.Given) > 0 {
			return nil, tool.Errorf(tool.KindInvalidArgument, "the request answers questions that were not asked")
		}
		return nil, nil
	}
	if len(r.Given) != len(r.Round.Questions) {
		return nil, tool.Errorf(tool.KindInvalidArgument, "the request has %d answers to %d questions", len(r.Given), len(r.Round.Questions))
	}
	var accepted []tool.Answer
	for i, q := range r.Round.Questions {
		if !slices.Contains(r.Answers, q.Kind()) { // the operator may have revoked it
			return nil, mayNotAsk(r.Name, q.Plugin, q.Kind())
		}
		o := question.NewOpen(q, nil)
		if refused := o.Check(&q); refused != nil {
			return nil, refused
		}
		answer, refused := o.Accept(r.Given[i], settings.Questions.Bytes)
		if refused != nil {
			return nil, refused
		}
		accepted = append(accepted, answer)
	}
	return accepted, nil
}

// checkRound returns what a plugin asks before it fills in a prompt, as callers get it. The bounds
// are those of the questions of a call.
func checkRound(settings *Settings, plugin string, r *tool.PromptRequest, asked *tool.PromptRound) (*tool.PromptRound, *tool.Error) {
	limits := &settings.Questions
	round := &tool.PromptRound{State: asked.State, Asked: len(asked.Questions)}
	if r.Round != nil {
		round.Asked += r.Round.Asked
	}
	switch {
	case round.Asked > limits.PerCall:
		return nil, tool.Errorf(tool.KindRateLimited, "%q asks %d questions for the prompt %q; it may ask %d", plugin, round.Asked, r.Name, limits.PerCall)
	case len(asked.State) > maxPromptState:
		return nil, tool.Errorf(tool.KindInternal, "%q wants %d bytes back with the answers; it may have %d", plugin, len(asked.State), maxPromptState)
	}
	bytes := 0
	for i, q := range asked.Questions {
		o, size := question.NewOpen(q, nil), question.Size(&q)
		bytes += size
		switch {
		case !slices.Contains(r.Answers, q.Kind()):
			return nil, mayNotAsk(r.Name, plugin, q.Kind())
		case size > limits.Bytes || bytes > question.MaxOpenBytes:
			return nil, tool.Errorf(tool.KindInvalidArgument, "the question of %q has %d bytes; it may have %d, and those of a round may have %d", plugin, size, limits.Bytes, question.MaxOpenBytes)
		}
		if refused := o.Check(&q); refused != nil {
			return nil, refused
		}
		wait := limits.MaxWait
		if wanted := o.Wanted(); wanted > 0 {
			wait = min(wait, wanted)
		}
		q.ID, q.Plugin, q.Expires = uint32(i+1), plugin, time.Now().Add(wait)
		shown := settings.Secrets.Redactor().Event(tool.Event{Question: &q}).Question
		if shown.Key != q.Key {
			return nil, tool.Errorf(tool.KindInternal, "%q names a question of the prompt %q by a secret", plugin, r.Name)
		}
		round.Questions = append(round.Questions, *shown)
	}
	return round, nil
}

func mayNotAsk(prompt, plugin string, kind tool.QuestionKind) *tool.Error {
	return tool.Errorf(tool.KindUnsupported, "%q asks %s before it fills in the prompt %q: the caller cannot be asked, or `plugin.%[1]s.ask` in toolhost.yaml does not permit it", plugin, question.Whom(kind), prompt)
}
