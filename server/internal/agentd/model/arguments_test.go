package model_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model"
)

func TestArgumentObject(t *testing.T) {
	for arguments, want := range map[string]string{
		"":                   `{}`,
		" \n":                `{}`,
		"{}":                 `{}`,
		` {"b":1, "a":1.0} `: `{"b":1, "a":1.0}`,
		`{"a":`:              `{"INVALID_JSON":"{\"a\":"}`,
		`{} {}`:              `{"INVALID_JSON":"{} {}"}`,
		`[1]`:                `{"INVALID_JSON":"[1]"}`,
		`null`:               `{"INVALID_JSON":"null"}`,
		"<&\xff":             `{"INVALID_JSON":"<&\ufffd"}`,
	} {
		call := model.ToolCall{Arguments: arguments}
		if got := string(call.ArgumentObject()); got != want {
			t.Errorf("%q becomes %s, want %s", arguments, got, want)
		}
	}
}
