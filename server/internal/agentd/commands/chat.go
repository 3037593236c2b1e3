package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/markdown"
	"github.com/toolhost/toolhost/server/internal/terminal"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

func newChatCommand(p cli.Process) *cobra.Command {
	c := &chat{setup: setup{process: p, usesToolhost: true, startsToolhost: true}}
	var newest bool
	cmd := &cobra.Command{
		Use:   "chat [RUN]",
		Short: "Talk with a model that has tools, turn by turn",
		Long: "Chat is a conversation in the terminal: what you type goes to the model, what it writes and calls is shown as it\n" +
			"happens, and approvals and questions are asked in place. It is a run like any other; with RUN it goes on with that one, and\n" +
			"with --continue with the newest one of this folder that you have talked in.\n\n" +
			"Ctrl-C cancels what the model is doing and leaves the conversation whole. In a run of a server to which you have sent\n" +
			"nothing, it only leaves. At the prompt it clears the text; twice without text it leaves, as Ctrl-D and /quit do. /help\n" +
			"shows what else there is. The exit code is 0 unless something failed.\n\n" +
			"With --addr or --target, or with a target in use, the run belongs to an `agentd serve`, as with `agentd run`.",
		Example: "  agentd chat\n  agentd chat --continue\n  agentd chat run-k3f6zq7xw2m4n5pa",
		Args:    cli.Arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if c.task.server, err = c.task.server.inUse(&c.setup); err != nil {
				return err
			}
			if newest && len(args) > 0 {
				return cli.Usage("--continue chooses the run, and %s is one; use one of them", args[0])
			}
			if err := c.setup.load(cmd.Context()); err != nil {
				return err
			}
			if newest {
				run, err := c.newestRun()
				if err != nil {
					return err
				}
				args = []string{run}
			}
			if len(args) > 0 && len(c.task.context) > 0 {
				return cli.Usage("--context: the run %s has its context since it began; leave the flag out", args[0])
			}
			if len(args) > 0 && c.task.agent != "" {
				return cli.Usage("--agent: the run %s has its agent since it began; leave the flag out", args[0])
			}
			if len(args) > 0 && c.setup.model != "" && c.task.server != (serverChoice{}) {
				return cli.Usage("--model: the agentd serve there goes on with the model of the run; leave the flag out")
			}
			if c.setup.runID = agent.NewRunID(); len(args) > 0 {
				c.setup.runID = args[0]
			}
			return c.talk(cmd.Context(), args)
		},
	}
	cmd.Flags().BoolVar(&newest, "continue", false, "go on with the newest chat of this folder")
	c.setup.addFlags(cmd.Flags())
	c.setup.addResumeFlags(cmd.Flags())
	c.task.addFlags(cmd.Flags())
	addReasoningFlag(cmd.Flags(), &c.think)
	return cmd
}

// chat is a conversation with a model. It is for one goroutine.
type chat struct {
	setup   setup
	task    taskFlags
	think   bool // show the model's reasoning
	bench   *workbench
	console *terminal.Console
	text    *textDisplay
	ahead   *terminal.Ahead // what the person types while the model works; nil without a terminal
	signals chan os.Signal
	run     begun // the run of the conversation; its id is empty before the first message
	// looks says that the conversation is at a server, and that this chat has sent it nothing yet.
	// Ctrl-C then leaves a run at work, which may be that of another person, as it is.
	looks bool
	// attached go with the next message.
	attached []client.Attachment
}

// talk runs the conversation until the person leaves.
func (c *chat) talk(ctx context.Context, args []string) (err error) {
	// Ctrl-C cancels the turn and not the process.
	c.signals = make(chan os.Signal, 1)
	signal.Notify(c.signals, os.Interrupt)
	defer signal.Stop(c.signals)
	if c.setup.config.Approvals.Headless == "auto" {
		c.setup.config.Approvals.Headless = "never"
	}
	c.console, c.text = terminal.NewConsole(c.setup.process), newTextDisplay(c.setup.process)
	c.text.think, c.text.opens = c.think, true
	// without styles, the source of the Markdown is clearer
	if screen := c.setup.process.Screen(); screen.Color {
		c.text.prose = &markdown.Stream{Screen: screen}
	}
	c.ahead = c.console.Ahead()
	if c.bench, err = c.setup.openWork(ctx, c.task.server, true); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.bench.Close()) }()
	quit := make(chan struct{})
	process := ctx
	defer context.AfterFunc(process, func() {
		if !interrupted(process) { // such as SIGTERM
			close(quit)
		}
	})()
	ctx = context.WithoutCancel(process)
	if len(args) > 0 {
		if c.run, err = c.setup.goOn(ctx, c.bench, args[0]); err != nil {
			return err
		}
		c.looks = c.bench.remote
	}
	err = errors.Join(c.greet(ctx), c.recall(ctx), c.turns(ctx, quit))
	if errors.Is(err, errLeft) {
		err = nil
	}
	if err != nil && c.run.id != "" {
		return fmt.Errorf("%w; the conversation is kept as far as the journal has it; go on with it: %s", err, c.setup.command("chat", c.run.id, c.task.server))
	}
	if err == nil && c.run.id != "" {
		err = c.text.command(dim, "the conversation is kept; go on with it: %s", c.setup.command("chat", c.run.id, c.task.server))
	}
	return err
}

// turns sends one message after the other.
func (c *chat) turns(ctx context.Context, quit <-chan struct{}) error {
	atWork := c.run.id != ""
	for {
		if atWork {
			if err := c.turn(ctx, quit); err != nil {
				return errors.Join(err, c.unsent())
			}
		}
		message, err := c.next(quit)
		if err != nil {
			return err
		}
		if message, err = c.slash(ctx, message, quit); err != nil {
			return err
		}
		message = strings.TrimSpace(message)
		if atWork = message != ""; !atWork {
			continue
		}
		if atWork, err = c.deliver(ctx, message); err != nil {
			return err
		}
	}
}

// next returns the first message that the person typed while the model worked, or else the next one
// that it types.
func (c *chat) next(quit <-chan struct{}) (string, error) {
	message := c.ahead.Next()
	if message == "" {
		return c.hear(quit)
	}
	c.console.Remember([]string{message})
	return message, c.text.ownText(message, nil)
}

// unsent shows what the person typed while the model worked, because the person leaves.
func (c *chat) unsent() error {
	for line := range strings.Lines(c.ahead.Rest()) {
		if err := c.text.line(yellow, "not sent: %s", strings.TrimRight(line, "\n")); err != nil {
			return err
		}
	}
	return nil
}

// hear returns the next message, which may be empty. It begins with what the person typed while the
// model worked. The error errLeft means that the person leaves.
func (c *chat) hear(quit <-chan struct{}) (string, error) {
	if err := c.console.Ask(terminal.Question{Prompt: terminal.PromptMessage, Message: true, Text: c.ahead.Rest(), Words: chatCommands}); err != nil {
		return "", err
	}
	select {
	case line := <-c.console.Read():
		c.console.Take()
		c.text.inLine = !c.console.Echoes()
		switch {
		case line.Err == nil:
			return line.Text, c.text.endLine()
		case !errors.Is(line.Err, io.EOF) && !errors.Is(line.Err, terminal.ErrInterrupted):
			return "", line.Err
		}
	case <-c.signals:
	case <-quit:
	}
	c.console.Withdraw()
	return "", errors.Join(errLeft, c.leave(!c.console.Edits()))
}

// leave ends the line of the prompt, if open says that it is not ended.
func (c *chat) leave(open bool) error {
	c.text.inLine = c.text.inLine || open
	return c.text.endLine()
}

// send starts the run of the conversation, or sends it a message.
func (c *chat) send(ctx context.Context, message string) error {
	c.looks = false
	if c.run.id != "" {
		seq, err := c.bench.SendMessage(ctx, c.run.id, message, c.attached...)
		c.run.after = max(c.run.after, seq)
		return errors.Join(err, c.noted(err))
	}
	t, err := c.task.task(ctx, &c.setup, message)
	if err != nil {
		return err
	}
	t.RunID, t.Attachments = c.setup.runID, c.attached
	t.Completion = client.CompletionEndTurn // the run waits for the next message
	if c.bench.remote {
		t.People = new(client.People(c.setup.config.Approvals.People(true)))
	}
	c.run.id, err = c.bench.StartRun(ctx, t)
	return errors.Join(err, c.noted(err))
}

// noted remembers the chat for --continue, unless sending the message failed. That it cannot be
// remembered is no reason to end the chat.
func (c *chat) noted(sent error) error {
	if sent != nil {
		return nil
	}
	if err := c.remember(); err != nil {
		return c.text.line(yellow, "--continue will not find this chat: %v", err)
	}
	return nil
}

// turn shows the work of the model until it waits for a message.
func (c *chat) turn(ctx context.Context, quit <-chan struct{}) error {
	people := newInterview(c.setup.process, c.console, c.text)
	people.expect(c.run.pending)
	c.run.pending = nil
	f := &follower{agent: c.bench.AgentClient, show: c.text, people: people, log: c.bench.log, signals: c.signals, quit: quit, private: c.bench.private, looks: c.looks, ahead: c.ahead, typed: c.text.typedAhead}
	f.spinner, c.text.ahead = startSpinner(c.text), c.ahead
	end, at, err := f.follow(ctx, c.run.id, c.run.after)
	c.run.after, c.text.ahead = at, nil
	err = errors.Join(err, f.spinner.stop(), c.text.endLine(), c.text.leave())
	if err == nil {
		err = c.account(end)
	}
	if err != nil || end == nil || exitCode(end.StopReason) == cli.ExitOK {
		return err
	}
	c.ahead.Hold() // the person may want to say something else now
	shade := red
	if end.StopReason == client.StopReason(loop.StopCancelled) {
		shade = yellow
	}
	return c.text.line(shade, "■ %s", ending(end))
}

// interrupted reports whether Ctrl-C canceled a context.
func interrupted(ctx context.Context) bool {
	cause, ok := errors.AsType[*signalled](context.Cause(ctx))
	return ok && cause.signal == syscall.SIGINT
}

// signalled is the cause of the canceled context of the process.
type signalled struct{ signal os.Signal }

// Error returns which signal arrived.
func (s *signalled) Error() string { return fmt.Sprintf("the signal %s came", s.signal) }
