package result

import "github.com/toolhost/toolhost/tool"

// maxRefusedEffects bounds how many refused effects the metadata names.
const maxRefusedEffects = 10

// refusedEffect is an element of the metadata of refusedEffectsKey.
type refusedEffect struct {
	Key    string `json:"key"`
	Reason string `json:"reason"`
}

// RefuseEffects removes the effects that the tool may not have from an outcome, and names them in the
// metadata. refusal returns why the tool may not change a key of the run's context; empty if it may.
// RefuseEffects returns how many effects it removed, and the first of them with its reason.
func RefuseEffects(outcome *tool.Outcome, refusal func(key string) string) (count int, key, reason string) {
	if len(outcome.Result.Effects) == 0 {
		return 0, "", ""
	}
	var kept []tool.Effect
	var refused []refusedEffect
	for _, e := range outcome.Result.Effects {
		if reason := refusal(e.Key); reason != "" {
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
