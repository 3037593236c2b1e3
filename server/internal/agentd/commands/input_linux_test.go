package commands

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe would stop the conversation, so chat does not attach it.
func TestChatAttachesNoPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t).withToolhost()
	y, e, wait := w.chats("--model", w.script("turns: [{text: 'You said {{prompt}}.'}]"))
	y.sees("› ")
	y.types("/attach " + pipe)
	y.sees("is a pipe or a device", "› ")
	y.types("hi")
	y.sees("You said hi.", "› ")
	_ = y.in.Close()
	e.code = wait()
	e.want(t, 0)
}
