package tool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/tool"
)

func TestStatusFold(t *testing.T) {
	tests := []struct {
		name            string
		so, next, after tool.Status
	}{
		{
			"what is set takes the place of what was",
			tool.Status{State: tool.StatusWait, Message: "a", Progress: &tool.Progress{Done: 1}, Result: json.RawMessage(`1`)},
			tool.Status{State: tool.StatusDoing, Message: "b", Progress: &tool.Progress{Done: 2}, Result: json.RawMessage(`{"x":1}`)},
			tool.Status{State: tool.StatusDoing, Message: "b", Progress: &tool.Progress{Done: 2}, Result: json.RawMessage(`{"x":1}`)},
		},
		{
			"what is not set stays",
			tool.Status{State: tool.StatusDoing, Message: "a", Progress: &tool.Progress{Done: 1}, Result: json.RawMessage(`1`)},
			tool.Status{},
			tool.Status{State: tool.StatusDoing, Message: "a", Progress: &tool.Progress{Done: 1}, Result: json.RawMessage(`1`)},
		},
		{
			"parameters are merged deeply, and a list is replaced",
			tool.Status{Parameters: json.RawMessage(`{"a":{"b":{"c":1},"d":[1,2]},"e":2}`)},
			tool.Status{Parameters: json.RawMessage(`{"a":{"b":{"f":3},"d":[3]},"g":null}`)},
			tool.Status{Parameters: json.RawMessage(`{"a":{"b":{"c":1,"f":3},"d":[3]},"e":2,"g":null}`)},
		},
		{
			"an object takes the place of a number, and the other way round",
			tool.Status{Parameters: json.RawMessage(`{"a":1,"b":{"c":1}}`)},
			tool.Status{Parameters: json.RawMessage(`{"a":{"x":1},"b":2}`)},
			tool.Status{Parameters: json.RawMessage(`{"a":{"x":1},"b":2}`)},
		},
		{
			"a state never goes back, and nothing of such a status counts",
			tool.Status{State: tool.StatusDoing, Message: "a"}, tool.Status{State: tool.StatusWait, Message: "b"},
			tool.Status{State: tool.StatusDoing, Message: "a"},
		},
		{
			"nothing comes after the end",
			tool.Status{State: tool.StatusSuccess, Message: "a"}, tool.Status{Message: "b", Result: json.RawMessage(`1`)},
			tool.Status{State: tool.StatusSuccess, Message: "a"},
		},
		{
			"an error is no way on from a success",
			tool.Status{State: tool.StatusSuccess}, tool.Status{State: tool.StatusError}, tool.Status{State: tool.StatusSuccess},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.after, test.so.Fold(test.next)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMayFollow(t *testing.T) {
	states := []tool.StatusState{"", tool.StatusWait, tool.StatusDoing, tool.StatusSuccess, tool.StatusError}
	want := map[tool.StatusState]string{ // what may come after each
		"":                 " WAIT DOING SUCCESS ERROR",
		tool.StatusWait:    " WAIT DOING SUCCESS ERROR",
		tool.StatusDoing:   " DOING SUCCESS ERROR",
		tool.StatusSuccess: "nothing",
		tool.StatusError:   "nothing",
	}
	for _, before := range states {
		var may []string
		for _, s := range states {
			if s.MayFollow(before) {
				may = append(may, string(s))
			}
		}
		if may == nil {
			may = []string{"nothing"}
		}
		if got := strings.Join(may, " "); got != want[before] {
			t.Errorf("after %q may come %q, want %q", before, got, want[before])
		}
	}
}
