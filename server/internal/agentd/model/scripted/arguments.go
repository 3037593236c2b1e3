package scripted

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// arguments is the source of a call's argument text.
type arguments interface {
	render(s scope) (string, error)
}

// jsonText is a template whose output must be JSON.
type jsonText struct{ text }

func (t jsonText) render(s scope) (string, error) {
	out, err := t.text.render(s)
	if err == nil && !json.Valid([]byte(out)) {
		err = errors.New("the template did not yield JSON; use arguments_raw to send anything else")
	}
	return out, err
}

// quoted is a template whose output becomes a JSON string.
type quoted struct{ text }

func (q quoted) render(s scope) (string, error) {
	out, err := q.text.render(s)
	if err != nil {
		return "", err
	}
	return marshal(out)
}

// list and object are JSON values that may contain templates.
type (
	list   []arguments
	object []member
	member struct {
		key   string // as JSON
		value arguments
	}
)

func (l list) render(s scope) (string, error) {
	parts := make([]string, 0, len(l))
	for _, value := range l {
		part, err := value.render(s)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	return "[" + strings.Join(parts, ",") + "]", nil
}

func (o object) render(s scope) (string, error) {
	parts := make([]string, 0, len(o))
	for _, m := range o {
		part, err := m.value.render(s)
		if err != nil {
			return "", err
		}
		parts = append(parts, m.key+":"+part)
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}

// readArguments reads the value of the key arguments: a mapping, or a string that is a template of
// JSON.
func readArguments(node yamldoc.Node) (arguments, error) {
	switch node.Kind() {
	case yamldoc.Text:
		source, err := node.Text("arguments")
		if err != nil {
			return nil, err
		}
		parsed, err := parseTemplate("arguments", source, node)
		return jsonText{parsed}, err
	case yamldoc.Null:
		return object{}, nil
	case yamldoc.Mapping:
		return readObject(node)
	}
	return nil, node.Errorf("arguments have to be a mapping, not %s; use arguments_raw to send anything else", node)
}

func readValue(node yamldoc.Node) (arguments, error) {
	switch node.Kind() {
	case yamldoc.Mapping:
		return readObject(node)
	case yamldoc.List:
		items, err := node.Items("arguments")
		if err != nil {
			return nil, err
		}
		values := make(list, 0, len(items))
		for _, item := range items {
			value, err := readValue(item)
			if err != nil {
				return nil, err
			}
			values = append(values, value)
		}
		return values, nil
	case yamldoc.Null, yamldoc.Number, yamldoc.Bool:
		value, err := node.JSON("a value of the arguments")
		return text{source: string(value)}, err
	}
	source, err := node.Text("a value of the arguments")
	if err != nil {
		return nil, err
	}
	parsed, err := parseTemplate("arguments", source, node)
	return quoted{parsed}, err
}

func readObject(node yamldoc.Node) (arguments, error) {
	entries, err := node.Entries("arguments")
	if err != nil {
		return nil, err
	}
	members := make(object, 0, len(entries))
	for _, e := range entries {
		key, err := marshal(e.Key)
		if err != nil {
			return nil, e.Errorf("writing the key as JSON: %v", err)
		}
		value, err := readValue(e.Value)
		if err != nil {
			return nil, err
		}
		members = append(members, member{key: key, value: value})
	}
	return members, nil
}
