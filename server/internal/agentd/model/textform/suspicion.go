package textform

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/toolhost/toolhost/server/internal/agentd/model/markup"
)

// foreign matches calls in other forms, with the name of the tool, and calls in this form, which
// are in code if a response has them without having a call.
var foreign = regexp.MustCompile(
	`(?:<` + elementCall + `\s+name\s*=\s*|<(?:invoke|tool|function)\s+name\s*=\s*|<function=|"(?:name|function|tool|tool_name|action)"\s*:\s*)["']?([A-Za-z0-9_.-]+)`)

// foreignCall returns a problem if a response is a call in the markup of a model, and "" otherwise.
func (p *parser) foreignCall() string {
	form := markup.Find(p.shown(), slices.Collect(maps.Keys(p.tools)))
	if form == "" {
		return ""
	}
	return fmt.Sprintf("the response is a call in another form (%s), which is not executed; write the call in the form <%s name=\"TOOL\">, "+
		"or, if it was meant as the answer, write a sentence and put it in a code block after it", form, elementCall)
}

// suspicion returns a problem if a response without calls seems to have one in another form or in
// code, and "" otherwise. A model that means it only as an example gives the response again.
func (p *parser) suspicion() string {
	for _, found := range foreign.FindAllStringSubmatch(p.shown(), -1) {
		if _, offered := p.tools[found[1]]; offered {
			return fmt.Sprintf("the response seems to call %q in another form, or in a code block, where calls are not executed; "+
				"if it was only an example, give the same response again", found[1])
		}
	}
	return ""
}

// shown returns the text of the response.
func (p *parser) shown() (all string) {
	for _, block := range p.blocks {
		if block.Text != nil {
			all += block.Text.Text + "\n"
		}
	}
	return all
}
