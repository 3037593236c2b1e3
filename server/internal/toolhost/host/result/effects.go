package result

import (
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// maxRefusedEffects bounds how many refused effects the metadata names.
const maxRefusedEffects = 10

// refusedEffect is an element of the metadata of refusedEffectsKey.
type refusedEffect struct {
	Key    string `json:"key"`
	Reason string `json:"reason"`
}

// EffectRules says which keys of the run's context a tool may change. Rules of the policy may trust
// the context, and effects change it. So a tool changes only keys that it declares. For a key that
// a rule of the policy reads, it also needs the operator's permission. The same rules apply to
// effects that filters add to the result.
type EffectRules struct {
	Declared []string              // the keys that the tool declares
	Granted  []string              // the keys that the operator allows although a rule reads them
	Read     func(key string) bool // whether a rule of the policy reads a key
	Tool     string                // the declared name of the tool, for the reason
}

// Apply removes the effects that the tool may not have from an outcome, and lists them in the
// metadata. It returns the number of removed effects, and the first of them with the reason.
func (r EffectRules) Apply(outcome *tool.Outcome) (count int, key, reason string) {
	var kept []tool.Effect
	var refused []refusedEffect
	for _, e := range outcome.Result.Effects {
		if reason := r.refusal(e.Key); reason != "" {
			refused = append(refused, refusedEffect{Key: Clip(e.Key, 128), Reason: reason})
			continue
		}
		kept = append(kept, e)
	}
	outcome.Result.Effects = kept
	if len(refused) == 0 {
		return 0, "", ""
	}
	setMetadata(outcome, refusedEffectsKey, encode(refused[:min(len(refused), maxRefusedEffects)]))
	return len(refused), refused[0].Key, refused[0].Reason
}

// refusal returns the reason why the tool may not change a key. It is empty if the tool may.
func (r EffectRules) refusal(key string) string {
	switch {
	case slices.Contains([]string{"tenant", "user", "session", "run", "turn"}, key), strings.HasPrefix(key, tool.ReservedPrefix):
		return "the key says for which tenant or in which run the call is made, and no effect changes it"
	case !slices.Contains(r.Declared, key):
		return "the tool does not declare the key in effect_keys"
	case r.Read(key) && !slices.Contains(r.Granted, key):
		return "a rule of the policy reads the key; the operator can allow it with tools." + r.Tool + ".effects in toolhost.yaml"
	}
	return ""
}
