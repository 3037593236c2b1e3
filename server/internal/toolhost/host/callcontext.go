package host

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/tool"
)

// declaredValues returns the context values that the tool declares. The tool gets no others.
func declaredValues(values map[string]json.RawMessage, keys []string) map[string]json.RawMessage {
	var declared map[string]json.RawMessage
	for _, key := range keys {
		if value, ok := values[key]; ok {
			if declared == nil {
				declared = map[string]json.RawMessage{}
			}
			declared[key] = value
		}
	}
	return declared
}

// contextFor returns the values of a call's context that a tool declares. The caller chooses all of
// them but those with the reserved prefix, which toolhost sets.
func contextFor(call *tool.Call, keys []string, workspace string) map[string]json.RawMessage {
	values := declaredValues(call.Context, keys)
	set := func(key string, value json.RawMessage) {
		if values == nil {
			values = map[string]json.RawMessage{}
		}
		values[key] = value
	}
	if slices.Contains(keys, tool.KeyPrincipal) {
		set(tool.KeyPrincipal, principalValue(call.Principal, call.Groups, call.Via))
	}
	if workspace != "" && slices.Contains(keys, tool.KeyWorkingDirectory) {
		set(tool.KeyWorkingDirectory, encoded(workspace))
	}
	return values
}

func principalValue(key string, groups []string, via string) json.RawMessage {
	p := tool.PrincipalContext{Key: key, Groups: slices.Clip(groups), Via: via}
	if p.Groups == nil {
		p.Groups = []string{}
	}
	p.Tenant, p.Name = identity.SplitKey(key)
	return encoded(p)
}

func encoded(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts can be encoded
	}
	return text
}

// checkContext refuses a context with a key that only toolhost may set. A tool relies on such a
// key, so that a caller must not choose its value.
func checkContext(values map[string]json.RawMessage) error {
	for key := range values {
		if strings.HasPrefix(key, tool.ReservedPrefix) {
			return tool.Errorf(tool.KindInvalidArgument, "the context's key %q is reserved: keys that begin with %s are set by toolhost alone", key, tool.ReservedPrefix)
		}
	}
	return nil
}
