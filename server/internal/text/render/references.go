package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxMoved bounds the targets of references that are moved, each of which costs a pass over the
// schema.
const maxMoved = 32

// settle returns the text of a schema that was changed at its root, in which every reference has a
// target. A target that was removed with a part of the root moves to $defs. An API may refuse a
// whole request for a reference without a target, so the error costs only this tool.
func settle(o, root object) (json.RawMessage, error) {
	text := compact(o.text())
	if !bytes.Contains(text, []byte(`"$ref"`)) {
		return o.text(), nil
	}
	for moved := 0; ; moved++ {
		reference := dangling(text)
		if reference == "" && moved == 0 {
			return o.text(), nil
		}
		if reference == "" {
			return text, nil
		}
		target, ok := lookup(root, reference)
		if !ok || moved == maxMoved {
			return nil, fmt.Errorf("its input schema has the reference %q, whose target is in a part that the API refuses", reference)
		}
		o, _ = parseObject(text)
		definitions, _ := parseObject(o.get("$defs"))
		name := definitions.unused(lastStep(reference))
		o = o.with("$defs", append(definitions, member{name, target}).text())
		old := append([]byte(`"$ref":`), quote(reference)...)
		text = bytes.ReplaceAll(compact(o.text()), old, append([]byte(`"$ref":`), quote("#/$defs/"+name)...))
	}
}

// unused returns a name like the given one that is a step of a pointer and no member has.
func (o object) unused(like string) string {
	like = strings.Map(func(r rune) rune {
		if r < '0' || r > 'z' || r > '9' && r < 'A' || r > 'Z' && r < 'a' {
			return '_'
		}
		return r
	}, like)
	name := like
	for n := 2; o.index(name) >= 0; n++ {
		name = like + strconv.Itoa(n)
	}
	return name
}

// dangling returns a reference within a schema that has no target there, or "".
func dangling(schema json.RawMessage) string {
	var whole any
	if json.Unmarshal(schema, &whole) != nil {
		return ""
	}
	var references []string
	anchors := map[string]bool{}
	each(whole, func(o map[string]any) {
		if reference, ok := o["$ref"].(string); ok {
			references = append(references, reference)
		}
		for _, keyword := range []string{"$anchor", "$dynamicAnchor", "$id"} {
			if name, ok := o[keyword].(string); ok {
				anchors["#"+strings.TrimPrefix(name, "#")] = true
			}
		}
	})
	slices.Sort(references)
	for _, reference := range slices.Compact(references) {
		if strings.HasPrefix(reference, "#") && reference != "#" && !anchors[reference] && !reaches(whole, reference) {
			return reference
		}
	}
	return ""
}

// each calls see for all objects of a value, except for those in values of arguments.
func each(value any, see func(map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		see(v)
		for name, part := range v {
			if name != "const" && name != "enum" && name != "default" && name != "examples" {
				each(part, see)
			}
		}
	case []any:
		for _, part := range v {
			each(part, see)
		}
	}
}

// reaches reports whether a JSON pointer has a target in a value.
func reaches(value any, reference string) bool {
	steps, ok := pointer(reference)
	for _, step := range steps {
		switch v := value.(type) {
		case map[string]any:
			value, ok = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if ok = err == nil && i >= 0 && i < len(v); ok {
				value = v[i]
			}
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return ok
}

// lookup returns the target of a reference within a schema: a JSON pointer such as #/$defs/Name. ok
// is false for any other reference, and for one without a target.
func lookup(root object, reference string) (target json.RawMessage, ok bool) {
	steps, ok := pointer(reference)
	if !ok {
		return nil, false
	}
	target = root.text()
	for _, step := range steps {
		if o, isObject := parseObject(target); isObject {
			target = o.get(step)
		} else {
			var list []json.RawMessage
			i, err := strconv.Atoi(step)
			if json.Unmarshal(target, &list) != nil || err != nil || i < 0 || i >= len(list) {
				return nil, false
			}
			target = list[i]
		}
		if target == nil {
			return nil, false
		}
	}
	return target, true
}

// resolve is lookup for a target that is an object.
func resolve(root object, reference string) (target object, ok bool) {
	text, ok := lookup(root, reference)
	if !ok {
		return nil, false
	}
	return parseObject(text)
}

// pointer returns the steps of a reference that is a JSON pointer.
func pointer(reference string) (steps []string, ok bool) {
	path, ok := strings.CutPrefix(reference, "#/")
	if !ok {
		return nil, false
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	for step := range strings.SplitSeq(path, "/") {
		steps = append(steps, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	return steps, true
}
