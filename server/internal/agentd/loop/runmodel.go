package loop

// RunModel is a model of a run, as the journal has it.
type RunModel struct {
	// Name is its name in the configuration. Empty for the default model without a name.
	Name string `json:"name,omitempty"`
	// Model is its full name, as provider:name.
	Model string `json:"model"`
	// BaseURL is the address of its API if it is not the provider's own; see RunStarted.BaseURL.
	BaseURL string `json:"base_url,omitempty"`
	// Window is the size of its window in tokens. 0 means the window of the run.
	Window int64 `json:"window,omitempty"`
}

// Models returns the models of the run: the first one, and then the fallbacks in order.
func (r *RunStarted) Models() []RunModel {
	return append([]RunModel{{Name: r.ModelName, Model: r.Model, BaseURL: r.BaseURL}}, r.Fallbacks...)
}

// windowInUse returns the window of the model that gave the last response. A request that fell back
// shows that the conversation is for that model now, so compaction follows its window.
func (s *State) windowInUse() Window {
	w := s.started.Window
	if i := s.window.fallback - 1; i >= 0 && i < len(s.started.Fallbacks) && s.started.Fallbacks[i].Window > 0 {
		w.Tokens = s.started.Fallbacks[i].Window
	}
	return w
}
