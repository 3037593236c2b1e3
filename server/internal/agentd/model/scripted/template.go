package scripted

import (
	"encoding/json"
	"fmt"
	"strings"
	// text/template itself would make the linker keep every method of the program
	"text/template/parse"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// scope gives a template access to the conversation.
type scope interface {
	result(id string) (string, error)
	prompt() string
	attachments() string
}

// text is a text of the script: a template or plain text.
type text struct {
	source string
	nodes  []parse.Node // nil means that source is plain text
}

// parseTemplate parses a template. what names it in errors, which have the position of a node.
func parseTemplate(what, source string, node yamldoc.Node) (text, error) {
	if !strings.Contains(source, "{{") {
		return text{source: source}, nil
	}
	known := map[string]any{}
	for name := range functions() {
		known[name] = true
	}
	trees, err := parse.Parse(what, source, "", "", known)
	if err != nil {
		return text{}, node.Errorf("reading the template: %v", err)
	}
	if len(trees) > 1 || trees[what] == nil {
		return text{}, node.Errorf("reading the template: it defines others; it may only call %s", functionNames)
	}
	t := text{source: source, nodes: trees[what].Root.Nodes}
	for _, part := range t.nodes {
		if err := checkNode(part); err != nil {
			return text{}, node.Errorf("reading the template: %v", err)
		}
	}
	return t, nil
}

func (t text) render(s scope) (string, error) {
	if t.nodes == nil {
		return t.source, nil
	}
	var out strings.Builder
	for _, node := range t.nodes {
		switch node := node.(type) {
		case *parse.TextNode:
			out.Write(node.Text)
		case *parse.ActionNode:
			value, err := pipeline(s, node.Pipe)
			if err != nil {
				return "", fmt.Errorf("%s: %w", node, err)
			}
			fmt.Fprint(&out, value)
		}
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
