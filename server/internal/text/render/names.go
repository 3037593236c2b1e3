package render

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// longestName is the number of characters that Anthropic's API accepts in the name of a parameter.
const longestName = 64

// acceptable returns a schema whose parameters have names that Anthropic's API accepts, and these
// names by the tool's own. names is nil if all parameters keep their names. The API looks only at
// the root.
func acceptable(schema json.RawMessage) (fitting json.RawMessage, names map[string]string, err error) {
	if _, found := unacceptable(schema); !found {
		return schema, nil, nil
	}
	root, _ := parseObject(schema)
	properties, _ := parseObject(root.get("properties"))
	names = map[string]string{}
	renamed := slices.Clone(properties)
	for i, p := range properties {
		if !anthropicProperty.MatchString(p.name) {
			renamed[i].name = renamed.free(p.name)
			names[p.name] = renamed[i].name
		}
	}
	o := root.with("properties", renamed.text())
	if required, ok := namesIn(root.get("required")); ok {
		for i, name := range required {
			if safe, ok := names[name]; ok {
				required[i] = safe
			}
		}
		text, _ := encode(required) // texts can always be encoded
		o = o.with("required", text)
	}
	fitting, err = settle(o, root)
	return fitting, names, err
}

// free returns a name that the API accepts, like the given one, that no member has.
func (o object) free(like string) string {
	like = strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, like)
	like = like[:min(len(like), longestName-4)] // room for a number
	if like == "" {
		like = "_"
	}
	name := like
	for n := 2; o.index(name) >= 0; n++ {
		name = like + strconv.Itoa(n)
	}
	return name
}

// Renamed returns arguments of a call with other names. Arguments that are not an object, and names
// that the map lacks, stay as they are.
func Renamed(arguments json.RawMessage, names map[string]string) json.RawMessage {
	o, ok := parseObject(arguments)
	if !ok || !json.Valid(arguments) {
		return arguments
	}
	changed := false
	o = slices.Clone(o)
	for i, m := range o {
		if name, ok := names[m.name]; ok && o.index(name) < 0 {
			o[i].name, changed = name, true
		}
	}
	if !changed {
		return arguments
	}
	return o.text()
}
