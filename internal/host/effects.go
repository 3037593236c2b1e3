package host

import (
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// refusedEffectsKey is where a result's metadata says which effects toolhost took out of it: a JSON array of refusedEffect.
const refusedEffectsKey = "toolhost.refused_effects"

// maxRefusedEffects bounds how many refused effects a result names.
const maxRefusedEffects = 10

type refusedEffect struct {
	Key    string `json:"key"`
	Reason string `json:"reason"`
}

// checkEffects takes those effects out of a call's outcome that its tool may not have. Rules of the policy may trust the run's
// context, and effects change it. So a tool changes only the keys that it declares, and a key that a rule reads only with the
// operator's permission, whatever filters made of the result.
func (r *run) checkEffects(outcome *tool.Outcome) {
	if len(outcome.Result.Effects) == 0 {
		return
	}
	var kept []tool.Effect
	var refused []refusedEffect
	for _, e := range outcome.Result.Effects {
		if reason := r.refusesEffect(e.Key); reason != "" {
			refused = append(refused, refusedEffect{Key: clip(e.Key, 128), Reason: reason})
			continue
		}
		kept = append(kept, e)
	}
	outcome.Result.Effects = kept
	if len(refused) == 0 {
		return
	}
	r.host.cfg.Logger.Warn("effects of a call were refused", "tool", r.call.Tool, "plugin", r.tool.Plugin.Info.Name, "call_id", r.call.ID,
		"count", len(refused), "key", refused[0].Key, "reason", refused[0].Reason)
	list, err := json.Marshal(refused[:min(len(refused), maxRefusedEffects)])
	if err != nil {
		panic(err) // texts
	}
	if outcome.Result.Metadata == nil {
		outcome.Result.Metadata = map[string]json.RawMessage{}
	}
	outcome.Result.Metadata[refusedEffectsKey] = list
}

// refusesEffect returns why the call's tool may not change a key of the run's context; empty if it may.
func (r *run) refusesEffect(key string) string {
	switch {
	case slices.Contains([]string{"tenant", "user", "session", "run", "turn"}, key):
		return "the key says for whom or where the run works, and no effect changes it"
	case !slices.Contains(r.tool.Spec.EffectKeys, key):
		return "the tool does not declare the key in effect_keys"
	case r.host.cfg.Policy.Reads(key) && !slices.Contains(r.tool.Effects, key):
		return "a rule of the policy reads the key; the operator can allow it with tools." + r.tool.DeclaredName() + ".effects in toolhost.yaml"
	}
	return ""
}
