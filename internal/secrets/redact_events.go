package secrets

import (
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// Event returns an event of a call without secrets.
func (r *Redactor) Event(ev tool.Event) tool.Event {
	if r.load() == nil {
		return ev
	}
	switch {
	case ev.Status != nil:
		status := r.status(*ev.Status)
		ev.Status = &status
	case ev.Log != nil:
		record := r.Record(*ev.Log)
		ev.Log = &record
	case ev.Ended != nil:
		outcome := *ev.Ended
		outcome.Result, outcome.Err = r.result(outcome.Result), r.Error(outcome.Err)
		ev.Ended = &outcome
	}
	return ev
}

func (r *Redactor) status(s tool.Status) tool.Status {
	s.Tip, s.Parameters, s.Result = r.Text(s.Tip), r.JSON(s.Parameters), r.JSON(s.Result)
	if s.Progress != nil {
		progress := *s.Progress
		progress.Message = r.Text(progress.Message)
		s.Progress = &progress
	}
	return s
}

// Record returns a log record without secrets.
func (r *Redactor) Record(record tool.LogRecord) tool.LogRecord {
	if r.load() == nil {
		return record
	}
	record.Message, record.Attributes = r.Text(record.Message), r.members(record.Attributes)
	return record
}

func (r *Redactor) result(result tool.Result) tool.Result {
	result.Content, result.Effects = slices.Clone(result.Content), slices.Clone(result.Effects)
	for i := range result.Content {
		c := &result.Content[i]
		c.Text, c.JSON, c.Data = r.Text(c.Text), r.JSON(c.JSON), r.Bytes(c.Data)
		c.Name, c.MediaType = r.Text(c.Name), r.Text(c.MediaType)
		if c.Artifact != nil {
			a := *c.Artifact
			a.Name, a.MediaType, a.Head, a.Tail = r.Text(a.Name), r.Text(a.MediaType), r.Text(a.Head), r.Text(a.Tail)
			c.Artifact = &a
		}
	}
	for i := range result.Effects {
		e := &result.Effects[i]
		e.Key, e.Value = r.Text(e.Key), r.JSON(e.Value)
	}
	result.Metadata = r.members(result.Metadata)
	return result
}

// members returns the members of a JSON object without secrets.
func (r *Redactor) members(members map[string]json.RawMessage) map[string]json.RawMessage {
	if len(members) == 0 {
		return members
	}
	redacted := make(map[string]json.RawMessage, len(members))
	for key, value := range members {
		redacted[r.Text(key)] = r.JSON(value)
	}
	return redacted
}

// Spec returns a plugin's description of a tool for one session without secrets. The description
// for all sessions cannot contain any, because the plugin makes it before it receives secrets.
func (r *Redactor) Spec(spec tool.Spec) tool.Spec {
	if r.load() == nil {
		return spec
	}
	spec.DisplayName, spec.Description = r.Text(spec.DisplayName), r.Text(spec.Description)
	spec.InputSchema, spec.OutputSchema = r.JSON(spec.InputSchema), r.JSON(spec.OutputSchema)
	spec.InputExamples = slices.Clone(spec.InputExamples)
	for i := range spec.InputExamples {
		e := &spec.InputExamples[i]
		e.Description, e.Arguments = r.Text(e.Description), r.JSON(e.Arguments)
	}
	return spec
}

// Error returns an error without secrets, and nil for nil.
func (r *Redactor) Error(err *tool.Error) *tool.Error {
	if err == nil || r.load() == nil {
		return err
	}
	redacted := *err
	if redacted.Message = r.Text(err.Message); redacted.Message != err.Message {
		redacted.Err = nil // its message is not redacted
	}
	if err.Exit != nil {
		exit := r.Exit(*err.Exit)
		redacted.Exit = &exit
	}
	return &redacted
}

// Exit returns the exit of a process without secrets.
func (r *Redactor) Exit(exit tool.Exit) tool.Exit {
	if r.load() == nil {
		return exit
	}
	exit.Reason, exit.LastStderr = r.Text(exit.Reason), slices.Clone(exit.LastStderr)
	for i, line := range exit.LastStderr {
		exit.LastStderr[i] = r.Text(line)
	}
	return exit
}
