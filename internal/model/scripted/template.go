package scripted

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/goccy/go-yaml/token"
)

// scope is what templates can ask of the conversation.
type scope interface {
	result(id string) (string, error)
	prompt() string
}

// text is a text of the script: a template, or plain if it has no actions.
type text struct {
	source   string
	template *template.Template // nil: source as it is
}

func (d document) template(what string, source string, at *token.Token) (text, error) {
	if !strings.Contains(source, "{{") {
		return text{source: source}, nil
	}
	parsed, err := template.New(what).Funcs(functions(nil)).Parse(source)
	if err != nil {
		return text{}, d.errorAt(at, "reading the template: %w", err)
	}
	return text{source: source, template: parsed}, nil
}

// functions returns what templates may call. Parsing needs the names alone, so that s may be nil then.
func functions(s scope) template.FuncMap {
	return template.FuncMap{
		"result": func(id string) (string, error) { return s.result(id) },
		"prompt": func() string { return s.prompt() },
		"json":   func(value any) (string, error) { return marshal(value) },
	}
}

func (t text) render(s scope) (string, error) {
	if t.template == nil {
		return t.source, nil
	}
	// A clone, since requests that are rendered at the same time have functions of their own.
	own, err := t.template.Clone()
	if err != nil {
		return "", fmt.Errorf("copying the template: %w", err)
	}
	var out strings.Builder
	if err := own.Funcs(functions(s)).Execute(&out, nil); err != nil {
		return "", err
	}
	return out.String(), nil
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(value any) (string, error) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
