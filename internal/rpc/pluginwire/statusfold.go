package pluginwire

import "github.com/toolhost/toolhost/tool"

// statusFold holds what is needed of a call's statuses so far to know which may follow.
type statusFold struct {
	state tool.StatusState
	done  float64 // the furthest progress
}

// admit takes out of s what breaks the rules and reports whether anything is left: nothing comes after a terminal
// state, a state never goes back, progress never falls, parameters are a JSON object and a result is JSON.
func (f *statusFold) admit(s *tool.Status) bool {
	if !s.State.MayFollow(f.state) {
		return false
	}
	s.Parameters, _ = checkedObject(s.Parameters)
	s.Result, _ = checkedJSON(s.Result)
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
