package loop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// The keys of the run's context with a meaning for the agent. Tools may write only KeyTodos.
// KeyTenant and KeyUser are set when a run starts: tools trust them, so a tool must not change
// them. The agent sets all others for each call; see ownKey.
const (
	KeyTodos   = "todos"   // the to-do list; watchers see its changes
	KeyTenant  = "tenant"  // the tenant whose data the run may see
	KeyUser    = "user"    // the user for whom the run works
	KeyRun     = "run"     // the run's id
	KeyTurn    = "turn"    // the number of the response with the call
	KeySession = "session" // the session of the call
	KeyAgent   = "agent"   // the name of the run's agent; missing if it has none
	KeyModel   = "model"   // the full name of the run's model
	KeyUsage   = "usage"   // a tool.UsageContext: what the run had used before the response
	// KeyMemory is the memory files: a list of objects with the members name, from and text. Missing
	// if the run has none.
	KeyMemory = "memory_files"
)

// ownKey reports whether the agent sets the value of a key for each call. A value that a caller
// gave to a run of an earlier version is hidden, and no effect can change one.
func ownKey(key string) bool {
	switch key {
	case KeyRun, KeyTurn, KeySession, KeyAgent, KeyModel, KeyUsage, KeyMemory:
		return true
	}
	return false
}

const (
	// maxContextKey is the largest size of a key, in bytes.
	maxContextKey = 128
	// maxContextBytes is the largest size of all keys and values. Each call sends them to toolhost.
	maxContextBytes = 256 << 10
)

// values is the run's context: calls receive it, and effects of tools change it. The map is
// replaced and never changed, because calls in progress share it.
type values struct{ context map[string]json.RawMessage }

// Context returns the run's context for a turn, with the agent's own keys. callID names the call of
// the last response for which it is: it then has the effects of the calls that this one follows, so
// that a tool that edits a list sees the current list. Empty: none. The context must not be
// changed, and shares no memory that changes later. For the rest, a response changes nothing in the
// context of its turn, not even the usage: previews open before the response is complete, and the
// descriptions of dynamic tools depend on the context in which they were listed.
func (s *State) Context(turn int, callID string) map[string]json.RawMessage {
	values := maps.Clone(s.values.seen(&s.batch, callID, s.started.Effects))
	if values == nil {
		values = make(map[string]json.RawMessage)
	}
	delete(values, KeyAgent)
	if name := s.started.AgentName(); name != "" {
		values[KeyAgent] = quoted(name)
	}
	delete(values, KeyMemory)
	if files, ok := s.started.memoryValue(); ok {
		values[KeyMemory] = files
	}
	values[KeyRun], values[KeySession], values[KeyModel] = quoted(s.started.RunID), quoted(s.started.Session), quoted(s.started.Model)
	values[KeyTurn] = json.RawMessage(fmt.Sprint(turn))
	used := s.budget.used()
	if turn == s.budget.turns && len(s.batch.list) > 0 {
		used = s.batch.before
	}
	values[KeyUsage], _ = Marshal(used) // finite numbers never fail
	return values
}

// seen returns the context for a call, with the effects of the calls that it follows.
func (v *values) seen(b *Batch, callID string, rules *EffectRules) map[string]json.RawMessage {
	c := b.find(callID)
	if c == nil {
		return v.context
	}
	ahead := values{v.context}
	for i := range b.list {
		earlier := &b.list[i]
		if earlier == c {
			break
		}
		r := earlier.result
		if r == nil || r.Result.IsError || r.Failure != nil || !c.follows(&earlier.Call, b.serial) {
			continue
		}
		for _, e := range r.Result.Effects {
			_ = ahead.fold(rules, &earlier.Call, e) // foldEffects reports refused effects
		}
	}
	return ahead.context
}

func quoted(text string) json.RawMessage {
	data, _ := Marshal(text) // a string never fails
	return data
}

// CheckContext returns an error if values are not valid as a run's initial context.
func CheckContext(values map[string]json.RawMessage) error {
	size := 0
	for key, value := range values {
		if err := checkContextKey(key); err != nil {
			return err
		}
		if !json.Valid(value) {
			return fmt.Errorf("the value of the context's key %q is no JSON", key)
		}
		size += len(key) + len(value)
	}
	if size > maxContextBytes {
		return fmt.Errorf("the context has %d bytes; it may have %d", size, maxContextBytes)
	}
	return nil
}

func checkContextKey(key string) error {
	switch {
	case key == "" || len(key) > maxContextKey:
		return fmt.Errorf("a key of the context has %d bytes; it needs 1 to %d", len(key), maxContextKey)
	case ownKey(key):
		return fmt.Errorf("the context's key %q is the agent's own", key)
	case strings.HasPrefix(key, tool.ReservedPrefix):
		return fmt.Errorf("the context's key %q is reserved for toolhost", key)
	}
	return nil
}

// EffectRules says which keys of the run's context effects may change, in addition to the tools'
// own declarations.
type EffectRules struct {
	// Protected are the keys that were set when the run started, except KeyTodos. The caller that
	// set them relies on them, and toolhost's policy may, too.
	Protected []string `json:"protected,omitempty"`
	// Allowed are, by tool, the protected keys that the operator lets the tool change.
	Allowed map[string][]string `json:"allowed,omitempty"`
}

// RulesFor returns the rules of a run with an initial context.
func RulesFor(values map[string]json.RawMessage, allowed map[string][]string) *EffectRules {
	rules := &EffectRules{Allowed: allowed}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if key != KeyTodos {
			rules.Protected = append(rules.Protected, key)
		}
	}
	return rules
}

// checkEffect returns an error if a call may not change a key. toolhost checks its tools'
// declarations as well, but the agent does not rely on that, because another operator may run the
// toolhost.
func (r *EffectRules) checkEffect(c *Call, key string) error {
	switch err := checkEffectKey(key); {
	case err != nil || r == nil || c.System != "":
		return err
	case !slices.Contains(c.EffectKeys, key):
		return fmt.Errorf("the tool %s does not declare the context's key %q in effect_keys", Clip(c.Tool), Clip(key))
	case slices.Contains(r.Protected, key) && !slices.Contains(r.Allowed[c.Tool], key):
		return fmt.Errorf("the context's key %q was set when the run started; agentd.yaml can allow it with tools.%s.effects", Clip(key), Clip(c.Tool))
	}
	return nil
}

// refusedByHost returns the effects that toolhost removed from a result, and why.
func refusedByHost(r *tool.Result) (refused []struct{ Key, Reason string }) {
	// unreadable metadata is ignored
	_ = json.Unmarshal(r.Metadata["toolhost.refused_effects"], &refused)
	return refused
}

// checkEffectKey returns an error if no tool may change a key.
func checkEffectKey(key string) error {
	if key == KeyTenant || key == KeyUser {
		return fmt.Errorf("the context's key %q says for whom the run works, and only the caller that starts a run sets it", key)
	}
	return checkContextKey(key)
}

// foldEffects applies the effects of a complete batch to the context, in call order. Failed calls
// change nothing. An event tells people about refused effects, and the call's result tells the
// model.
func (s *State) foldEffects() {
	var change ContextChange
	changed := make(map[string]json.RawMessage) // by key, the value before
	for i := range s.batch.list {
		c := &s.batch.list[i]
		r := c.result
		if r.Result.IsError || r.Failure != nil {
			continue
		}
		for _, e := range refusedByHost(&r.Result) {
			c.drop(&change, e.Key, Clip(e.Key)+": "+e.Reason)
		}
		for _, e := range r.Result.Effects {
			before := s.values.context[e.Key]
			if err := s.values.fold(s.started.Effects, &c.Call, e); err != nil {
				c.drop(&change, e.Key, err.Error())
				continue
			}
			if _, seen := changed[e.Key]; !seen {
				changed[e.Key] = before
			}
		}
	}
	for key, before := range changed {
		if bytes.Equal(before, s.values.context[key]) {
			continue
		}
		change.Keys = append(change.Keys, key)
		if key == KeyTodos {
			s.news = append(s.news, &TodoChange{Todos: s.values.context[key]})
		}
	}
	if slices.Sort(change.Keys); len(change.Keys) > 0 || len(change.Refused) > 0 {
		s.news = append(s.news, &change)
	}
}

// drop records that an effect of the call was refused.
func (c *callState) drop(change *ContextChange, key, reason string) {
	if c.dropped = append(c.dropped, reason); len(c.dropped) > maxRefused {
		return
	}
	if change.Refused == nil {
		change.Refused = make(map[string]string)
	}
	change.Refused[Clip(key)] = reason
}

// fold applies one effect of a call to the context, or returns why it is refused.
func (v *values) fold(rules *EffectRules, c *Call, e tool.Effect) error {
	if err := rules.checkEffect(c, e.Key); err != nil {
		return err
	}
	after, err := joined(v.context[e.Key], e)
	if err != nil {
		return err
	}
	size := len(e.Key) + len(after)
	for key, value := range v.context {
		if key != e.Key {
			size += len(key) + len(value)
		}
	}
	if size > maxContextBytes {
		return fmt.Errorf("the context would have %d bytes; it may have %d", size, maxContextBytes)
	}
	// Calls in progress share the old map.
	v.context = maps.Clone(v.context)
	if v.context == nil {
		v.context = make(map[string]json.RawMessage)
	}
	v.context[e.Key] = after
	return nil
}

// joined returns a key's value after an effect.
func joined(before json.RawMessage, e tool.Effect) (json.RawMessage, error) {
	if !json.Valid(e.Value) {
		return nil, fmt.Errorf("the value is no JSON")
	}
	switch e.Operation {
	case tool.EffectReplace, "":
		return e.Value, nil
	case tool.EffectAppend:
		var list []json.RawMessage
		if len(before) > 0 && json.Unmarshal(before, &list) != nil {
			return nil, fmt.Errorf("a value cannot be appended: what is there is no list")
		}
		return Marshal(append(list, e.Value))
	case tool.EffectMerge:
		return mergePatch(before, e.Value)
	}
	return nil, fmt.Errorf("the operation %q is unknown", e.Operation)
}

// mergePatch applies a JSON merge patch (RFC 7396). It keeps the text of values that the patch does
// not name.
func mergePatch(target, patch json.RawMessage) (json.RawMessage, error) {
	var changes map[string]json.RawMessage
	if json.Unmarshal(patch, &changes) != nil || changes == nil {
		return patch, nil // not an object: it replaces the target
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(target, &object) != nil || object == nil {
		object = make(map[string]json.RawMessage)
	}
	for key, change := range changes {
		if string(change) == "null" {
			delete(object, key)
			continue
		}
		merged, err := mergePatch(object[key], change)
		if err != nil {
			return nil, err
		}
		object[key] = merged
	}
	return Marshal(object)
}
