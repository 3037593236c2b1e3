package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// prompts are the prompts that the plugins of a toolhost offer. A *client.Client has this
// interface.
type prompts interface {
	ListPrompts(ctx context.Context, q tool.ResourceQuery) (tool.Prompts, error)
	GetPrompt(ctx context.Context, r tool.PromptRequest) (tool.PromptText, error)
}

// promptLines bounds how much of the text of a prompt the chat shows before it sends the text.
const promptLines = 20

// prompt returns the text of the prompt that a message names as /NAME or /PLUGIN:NAME, followed by
// its arguments. The text is empty if there is no such prompt, or if no plugin returns it; the
// person knows why then.
//
// A plugin chose the text. So the chat shows it with the name of the plugin, and sends it as what
// it is for the model: the words of the person who asked for it. It is never an instruction of the
// operator.
func (c *chat) prompt(ctx context.Context, message string, quit <-chan struct{}) (string, error) {
	name, rest, _ := strings.Cut(strings.TrimSpace(message), " ")
	name = strings.TrimPrefix(name, "/")
	if c.bench.prompts == nil {
		return "", c.text.line(yellow, "there is no command /%s, and an agentd serve offers no prompts; /help shows the commands; put a space before it to send it to the model", name)
	}
	plugin, own, qualified := strings.Cut(name, ":")
	if !qualified {
		plugin, own = "", name
	}
	listed, err := c.bench.prompts.ListPrompts(ctx, tool.ResourceQuery{Plugin: plugin})
	if err != nil {
		return "", c.text.line(yellow, "the prompts are not known: %v", err)
	}
	found := slices.DeleteFunc(listed.Prompts, func(p tool.Prompt) bool { return p.Name != own || plugin != "" && p.Plugin != plugin })
	switch {
	case len(found) == 0:
		return "", c.text.line(yellow, "there is no command /%s, and no prompt of this name; /help shows the commands, /prompts the prompts; put a space before it to send it to the model", name)
	case len(found) > 1:
		names := make([]string, len(found))
		for i, p := range found {
			names[i] = "/" + p.Plugin + ":" + p.Name
		}
		return "", c.text.line(yellow, "several plugins offer /%s: write %s", name, strings.Join(names, " or "))
	}
	arguments, err := c.promptArguments(&found[0], rest, quit)
	if err != nil {
		return "", err
	}
	text, err := c.bench.prompts.GetPrompt(ctx, tool.PromptRequest{Plugin: found[0].Plugin, Name: own, Arguments: arguments})
	if err != nil {
		return "", c.text.line(yellow, "/%s failed: %v", name, err)
	}
	return c.showPrompt(found[0].Plugin, text)
}

// promptArguments returns the arguments of a prompt: NAME=VALUE words, or all words for a prompt
// with one argument. It asks for those that the prompt needs and that are missing.
func (c *chat) promptArguments(p *tool.Prompt, words string, quit <-chan struct{}) (map[string]string, error) {
	arguments := map[string]string{}
	words = strings.TrimSpace(words)
	last := ""
	for word := range strings.FieldsSeq(words) {
		name, value, ok := strings.Cut(word, "=")
		known := ok && slices.ContainsFunc(p.Arguments, func(a tool.PromptArgument) bool { return a.Name == name })
		switch {
		case known:
			arguments[name], last = value, name
		case last != "":
			arguments[last] += " " + word // the value goes on
		}
	}
	if len(arguments) == 0 && words != "" && len(p.Arguments) > 0 {
		arguments[p.Arguments[0].Name] = words
	}
	for _, a := range p.Arguments {
		if _, given := arguments[a.Name]; given || !a.Required {
			continue
		}
		if err := c.text.line(dim, "%s: %s", a.Name, a.Description); err != nil {
			return nil, err
		}
		value, err := c.hear(quit)
		if err != nil {
			return nil, err
		}
		arguments[a.Name] = strings.TrimSpace(value)
	}
	return arguments, nil
}

// showPrompt shows the text of a prompt, and returns it.
func (c *chat) showPrompt(plugin string, text tool.PromptText) (string, error) {
	var parts []string
	for i := range text.Messages {
		part := strings.TrimSpace(text.Messages[i].Text())
		if len(text.Messages) > 1 {
			part = string(text.Messages[i].Role) + ": " + part
		}
		parts = append(parts, part)
	}
	whole := strings.Join(parts, "\n\n")
	if whole == "" {
		return "", c.text.line(yellow, "the prompt is empty")
	}
	if err := c.text.line(dim, "the text of the plugin %s, which you send as your message:", plugin); err != nil {
		return "", err
	}
	lines := strings.Split(whole, "\n")
	for _, line := range lines[:min(len(lines), promptLines)] {
		if err := c.text.line("", "  %s", cli.Clip(line, 400)); err != nil {
			return "", err
		}
	}
	if more := len(lines) - promptLines; more > 0 {
		if err := c.text.line(dim, "  and %d more lines; `toolhost prompts get` shows all", more); err != nil {
			return "", err
		}
	}
	return whole, nil
}

// listPrompts shows the prompts that plugins offer.
func (c *chat) listPrompts(ctx context.Context) error {
	if c.bench.prompts == nil {
		return c.text.line(yellow, "an agentd serve offers no prompts")
	}
	listed, err := c.bench.prompts.ListPrompts(ctx, tool.ResourceQuery{})
	if err != nil {
		return c.text.line(yellow, "the prompts are not known: %v", err)
	}
	for _, u := range listed.Unlisted {
		if err := c.text.line(yellow, "the prompts of %s are not known: %s", u.Plugin, u.Reason); err != nil {
			return err
		}
	}
	if len(listed.Prompts) == 0 {
		return c.text.line(dim, "no plugin offers prompts")
	}
	for _, p := range listed.Prompts {
		twice := slices.ContainsFunc(listed.Prompts, func(other tool.Prompt) bool { return other.Name == p.Name && other.Plugin != p.Plugin })
		name := "/" + p.Name
		if twice {
			name = fmt.Sprintf("/%s:%s", p.Plugin, p.Name)
		}
		for _, a := range p.Arguments {
			if a.Required {
				name += " " + a.Name + "=…"
			} else {
				name += " [" + a.Name + "=…]"
			}
		}
		if err := c.text.line(dim, "%s   %s", name, cli.Clip(p.Description, 80)); err != nil {
			return err
		}
	}
	return nil
}
