package reaper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/plugin/limits"
	"github.com/toolhost/toolhost/internal/plugin/reaper/proc"
)

// ready is the helper's first line, by which a Handle knows that it started the right program.
const ready = "toolhost reaper 1"

// patience bounds how long the helper goes on killing what starts anew as fast as it dies.
const patience = 10 * time.Second

// Main is the helper process: call it from a hidden command and exit with what it returns. It speaks on standard
// input and output, which a Handle holds, and returns when toolhost is gone and nothing of it is left. Signals that a
// terminal or a service manager sends to everyone do not end it: it is the one that has to be last.
func Main() int {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	if _, err := fmt.Println(ready); err != nil {
		return 1
	}
	if err := follow(os.Stdin).clean(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// follow returns the last complete state once the other end is closed. What breaks off in the middle was written by a
// toolhost that died in the middle.
func follow(r io.Reader) state {
	var last state
	for dec := json.NewDecoder(r); ; {
		var next state
		if err := dec.Decode(&next); err != nil {
			return last
		}
		last = next
	}
}

// clean kills first and removes afterwards, since a live process makes new files.
func (s state) clean() error {
	var errs []error
	for _, leader := range s.Groups {
		errs = append(errs, proc.KillGroup(leader))
	}
	if s.Token != "" {
		_, err := proc.KillMarked(s.Token+"/", patience)
		errs = append(errs, err)
	}
	errs = append(errs, limits.RemoveGroups(s.Cgroups))
	return errors.Join(append(errs, s.Socket.remove(), s.RunDir.remove())...)
}
