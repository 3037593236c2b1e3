package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// chatHelp is the text of /help.
var chatHelp = []string{
	"What you type goes to the model when you press Enter.",
	`  Alt-Enter     begin another line of the same message, as \ and Enter do; pasted lines are one message, too`,
	"  up, down      what you typed before; Ctrl-R searches it",
	"  Ctrl-C        cancel what the model is doing, if you have sent a message; at the prompt, clear the text; twice without text, leave",
	"  /attach FILE  send an image, a PDF or a text file with your next message; /attach lists what is attached",
	"  /result N     show a whole result; the number stands behind a result that was cut, and /result shows the last one",
	"  /cost         show the tokens, the calls and the cost of the conversation so far",
	"  /model        show the model of the conversation",
	"  /prompts      list the prompts that plugins offer",
	"  Tab           complete a command",
	"  /NAME         send the text of a prompt as your message; its arguments follow as ARGUMENT=VALUE",
	"  /help         show this",
	"  /quit         leave, as Ctrl-D and /exit do; the conversation is kept",
	"A message that begins with a slash goes to the model if a space stands before it.",
}

// chatCommands are what Tab completes. The prompts of plugins are not among them: a key must not
// wait for a plugin.
var chatCommands = []string{"/attach", "/cost", "/exit", "/help", "/model", "/prompts", "/quit", "/result"}

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
	case "/cost":
		return "", c.cost(ctx)
	case "/model":
		return "", c.model(ctx)
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
	if c.run.id == "" && c.bench.private != nil { // the current folder is the workspace of a new run
		if err := c.unusedMemory("."); err != nil {
			return err
		}
	}
	return c.text.line(dim, "/help shows the keys; /quit or Ctrl-D leaves")
}

// instructionsFile is the name under which projects keep instructions for agents.
const instructionsFile = "AGENTS.md"

// unusedMemory says that a folder has instructions for agents that no memory file is. agentd reads
// none by itself: whoever can write into the folder would steer the model.
func (c *chat) unusedMemory(folder string) error {
	info, err := os.Lstat(filepath.Join(folder, instructionsFile))
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	files := slices.Clone(c.setup.config.Memory)
	for _, a := range c.setup.config.Agents {
		files = append(files, a.Memory...)
	}
	for _, file := range files {
		path, inWorkspace := agentconfig.WorkspaceFile(file)
		if inWorkspace && filepath.Clean(path) == instructionsFile {
			return nil
		}
		if of, err := os.Stat(file); !inWorkspace && err == nil && os.SameFile(info, of) {
			return nil
		}
	}
	return c.text.line(dim, "the model does not get %[1]s, which lies here; to give it to the model, add to agentd.yaml: memory: [\"workspace:%[1]s\"]", instructionsFile)
}

// account shows, in a terminal, the tokens, calls and cost of the conversation.
func (c *chat) account(end *client.RunEnded) error {
	if c.text.block == nil || end == nil {
		return nil
	}
	return c.text.line(dim, "%s", used(end.Usage, end.Calls, end.Cost))
}

// used says what a run has used so far.
func used(u tool.Usage, calls int, cost float64) string {
	words := fmt.Sprintf("%d tokens read, %d written, %s so far", u.InputTokens, u.OutputTokens, cli.Count(calls, "call"))
	if cost > 0 {
		words += fmt.Sprintf(", cost %.4g", cost)
	}
	return words
}

// cost shows what the conversation has used so far, also between turns.
func (c *chat) cost(ctx context.Context) error {
	if c.run.id == "" {
		return c.text.line(dim, "nothing yet: the conversation begins with your first message")
	}
	r, err := c.bench.GetRun(ctx, c.run.id)
	if err != nil {
		return c.text.line(yellow, "the cost is not known: %v", err)
	}
	return c.text.line(dim, "%s", used(r.Usage, r.Calls, r.Cost))
}

// model shows the model of the conversation.
func (c *chat) model(ctx context.Context) error {
	name := c.setup.opened.name
	if c.run.id != "" {
		r, err := c.bench.GetRun(ctx, c.run.id)
		if err != nil {
			return c.text.line(yellow, "the model is not known: %v", err)
		}
		name = r.Model
	}
	if name == "" {
		name = "the agentd serve chooses it with your first message"
	}
	return c.text.line(dim, "model %s", name)
}
