package commands

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// chatHelp is the text of /help.
var chatHelp = []string{
	"What you type goes to the model when you press Enter.",
	`  Alt-Enter     begin another line of the same message, as \ and Enter do; pasted lines are one message, too`,
	"  up, down      what you typed before; Ctrl-R searches it",
	"  Ctrl-C        cancel what the model is doing, if you have sent a message; at the prompt, clear the text; twice without text, leave",
	"  /attach FILE  send an image, a PDF or a text file with your next message; /attach lists what is attached",
	"  /result N     show a whole result; the number stands behind a result that was cut, and /result shows the last one",
	"  /prompts      list the prompts that plugins offer",
	"  /NAME         send the text of a prompt as your message; its arguments follow as ARGUMENT=VALUE",
	"  /help         show this",
	"  /quit         leave, as Ctrl-D and /exit do; the conversation is kept",
	"A message that begins with a slash goes to the model if a space stands before it.",
}

// slashCommand matches a message for agentd. It does not match a path, such as /etc/hosts.
var slashCommand = regexp.MustCompile(`^/[A-Za-z?][A-Za-z0-9_:-]*$`)

// slash executes a message for agentd. It returns the message for the model: the same one if it is
// not for agentd, the text of a prompt, or "". The error errLeft means that the person leaves.
func (c *chat) slash(ctx context.Context, message string, quit <-chan struct{}) (string, error) {
	word, _, _ := strings.Cut(strings.TrimRight(message, " \t\n"), " ")
	if !slashCommand.MatchString(word) {
		return message, nil
	}
	switch word {
	case "/quit", "/exit":
		return "", errLeft
	case "/help", "/?":
		for _, line := range chatHelp {
			if err := c.text.line(dim, "%s", line); err != nil {
				return "", err
			}
		}
		return "", nil
	case "/result":
		_, number, _ := strings.Cut(strings.TrimSpace(message), " ")
		return "", c.openResult(ctx, number)
	case "/attach":
		_, file, _ := strings.Cut(strings.TrimSpace(message), " ")
		return "", c.attach(ctx, file)
	case "/prompts":
		return "", c.listPrompts(ctx)
	}
	return c.prompt(ctx, message, quit)
}

// greet shows, in a terminal, the model, the tools, and how to leave.
func (c *chat) greet(ctx context.Context) error {
	if c.text.block == nil {
		return nil
	}
	for _, line := range c.bench.about(ctx) {
		if err := c.text.line(dim, "%s", line); err != nil {
			return err
		}
	}
	return c.text.line(dim, "/help shows the keys; /quit or Ctrl-D leaves")
}

// account shows, in a terminal, the tokens, calls and cost of the conversation.
func (c *chat) account(end *client.RunEnded) error {
	if c.text.block == nil || end == nil {
		return nil
	}
	words := fmt.Sprintf("%d tokens read, %d written, %s so far", end.Usage.InputTokens, end.Usage.OutputTokens, cli.Count(int(end.Calls), "call"))
	if end.Cost > 0 {
		words += fmt.Sprintf(", cost %.4g", end.Cost)
	}
	return c.text.line(dim, "%s", words)
}
