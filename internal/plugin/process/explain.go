package process

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/crashoutput"
	"github.com/toolhost/toolhost/tool"
)

// explain returns the launch's error: what happened, and what the process printed last. The process
// is gone.
func (p *Process) explain(err error) error {
	result := &tool.Error{Kind: tool.KindUnavailable, Plugin: p.cfg.Plugin, Instance: p.cfg.Instance, Err: err}
	text := fmt.Sprintf("launching plugin %q: ", p.cfg.Plugin)
	if p.child == nil {
		result.Message = text + err.Error()
		return result
	}
	exit := p.Exit()
	result.Exit = &exit
	_, refused := errors.AsType[*handshakeError](err)
	switch {
	case refused:
		text += fmt.Sprintf("it is not a toolhost plugin: %v", err)
	case errors.Is(err, errStartTimeout):
		text += fmt.Sprintf("it did not answer within %v", p.cfg.StartTimeout.Round(time.Millisecond))
		if line, ok := <-p.firstLine; ok {
			p.unfinished = line.text
		}
	case exit.Reason == "", exit.OutOfMemory:
		text += fmt.Sprintf("it ended before it could be used: %v", exit)
	default:
		text += err.Error()
	}
	if p.unfinished != "" {
		text += fmt.Sprintf("; it printed %s, expected go-plugin's handshake (%s)", quote(p.unfinished), handshakeForm)
	}
	if len(exit.LastStderr) > 0 {
		text += fmt.Sprintf("; its last words on standard error: %s", quote(lastWords(exit)))
	}
	result.Message = p.cfg.Redact(text, false)
	return result
}

// lastWords returns the most informative of a process's last lines: the reason of its end, or else
// the last lines.
func lastWords(exit tool.Exit) string {
	const few = 5
	if crashoutput.Explained(exit.LastStderr) {
		return crashoutput.Reason(exit.LastStderr)
	}
	return strings.Join(crashoutput.Excerpt(exit.LastStderr, few), "\n")
}
