package render

import (
	"encoding/json"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// markdown renders a section for each tool: its description, its arguments as a list with the
// required ones marked, its result if it declares one, and its examples.
func markdown(infos []tool.Info) (tool.Rendered, error) {
	var b strings.Builder
	names := []string{}
	for i := range infos {
		if i > 0 {
			b.WriteByte('\n')
		}
		section(&b, &infos[i].Spec)
		names = append(names, infos[i].Spec.Name)
	}
	return tool.Rendered{Content: []byte(b.String()), Tools: names}, nil
}

func section(b *strings.Builder, spec *tool.Spec) {
	b.WriteString("## " + spec.Name + "\n")
	if spec.DisplayName != "" && spec.DisplayName != spec.Name {
		b.WriteString("\n**" + strings.Join(strings.Fields(spec.DisplayName), " ") + "**\n")
	}
	if text := strings.TrimSpace(spec.Description); text != "" {
		b.WriteString("\n" + text + "\n")
	}
	if spec.Dangerous {
		b.WriteString("\nA person must agree to each call.\n")
	}
	b.WriteString("\n" + outlineOf("Arguments", spec.InputSchema))
	if len(spec.OutputSchema) > 0 {
		b.WriteString("\n" + outlineOf("Result", spec.OutputSchema))
	}
	if len(spec.InputExamples) > 0 {
		b.WriteString("\nExamples:\n\n")
	}
	for _, e := range spec.InputExamples {
		b.WriteString("- ")
		if e.Description != "" {
			b.WriteString(strings.Join(strings.Fields(e.Description), " ") + ": ")
		}
		b.WriteString(code(string(compact(orEmpty(e.Arguments)))) + "\n")
	}
}

// outlineOf returns a schema as a list under a label. An empty schema is that of a tool without
// arguments.
func outlineOf(label string, schema json.RawMessage) string {
	if len(strings.TrimSpace(string(schema))) == 0 {
		schema = json.RawMessage(noArguments)
	}
	root, ok := parseObject(schema)
	if !ok {
		return label + ": " + code(string(compact(schema))) + "\n"
	}
	o := outline{root: root, shown: map[string]bool{}}
	o.write(schema)
	switch list := o.b.String(); {
	case list != "":
		return label + o.about + ":\n\n" + list
	case o.about != "":
		return label + o.about + ".\n"
	case string(root.get("additionalProperties")) != "false":
		return label + ": any object.\n"
	default:
		return label + ": none.\n"
	}
}

// code returns any text as inline code of Markdown.
func code(s string) string {
	fence, run := "`", 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		if run++; run >= len(fence) {
			fence = strings.Repeat("`", run+1)
		}
	}
	if fence != "`" {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
