package pluginwire

import (
	"bytes"
	"encoding/json"

	"github.com/toolhost/toolhost/tool"
)

// statusFold holds what is needed of a call's statuses so far to know which may follow.
type statusFold struct {
	state tool.StatusState
	done  float64 // the furthest progress
}

var stateOrder = map[tool.StatusState]int{tool.StatusWait: 1, tool.StatusDoing: 2, tool.StatusSuccess: 3, tool.StatusError: 3}

// admit takes out of s what breaks the rules and reports whether anything is left: nothing comes after a terminal
// state, a state never goes back, progress never falls, parameters are a JSON object and a result is JSON.
func (f *statusFold) admit(s *tool.Status) bool {
	if f.state.Terminal() || s.State != "" && stateOrder[s.State] < stateOrder[f.state] {
		return false
	}
	if !isObject(s.Parameters) {
		s.Parameters = nil
	}
	if !json.Valid(s.Result) {
		s.Result = nil
	}
	if s.Progress != nil && s.Progress.Done < f.done {
		s.Progress = nil
	}
	if s.State == "" && s.Tip == "" && s.Parameters == nil && s.Progress == nil && s.Result == nil {
		return false
	}
	if s.State != "" {
		f.state = s.State
	}
	if s.Progress != nil {
		f.done = s.Progress.Done
	}
	return true
}

func isObject(value json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(value, " \t\r\n"), []byte("{")) && json.Valid(value)
}
