package commands

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// --continue goes on with the chat of this folder that the person has talked in last.
func TestChatGoesOnWithTheNewestOfTheFolder(t *testing.T) {
	w := newWorld(t).withToolhost()
	script := w.script("turns: [{text: 'You said {{prompt}}.'}, {text: 'And then {{prompt}}.'}, {text: 'At last {{prompt}}.'}]")
	says := func(words, hears string, args ...string) {
		t.Helper()
		y, e, wait := w.chats(append(args, "--model", script)...)
		y.sees("› ")
		y.types(words)
		y.sees(hears, "› ")
		_ = y.in.Close()
		e.code = wait()
		e.want(t, 0)
	}
	here, there := t.TempDir(), t.TempDir()
	t.Chdir(here)
	w.run("chat", "--continue", "--model", script).want(t, cli.ExitUsage, "there is no chat of the folder "+here)
	w.run("chat", "--continue", "run-x", "--model", script).want(t, cli.ExitUsage, "use one of them")
	says("old", "You said old.")
	old := w.newestRun()
	says("new", "You said new.")
	t.Chdir(there)
	says("elsewhere", "You said elsewhere.")
	t.Chdir(here)
	says("more", "And then more.", "--continue")
	says("again", "And then again.", old)
	says("on", "At last on.", "--continue")
	w.run("chat", "--continue", "--journal", filepath.Join(w.folder, "other.db"), "--model", script).want(t, cli.ExitUsage, "there is no chat of the folder "+here)

	path := filepath.Join(trust.Dir(func(name string) string { return w.env[name] }), chatsFile)
	if err := os.WriteFile(path, []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run("chat", "--continue", "--model", script).want(t, 3, "reading the newest chats", "name the run instead")
	says("anew", "You said anew.")
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the file has %v, %v", info, err)
	}
}

func TestTheNewestChatsAreBounded(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	c := &chat{setup: setup{process: cli.Process{Getenv: func(string) string { return "" }}, journal: filepath.Join(folder, "runs.db")}, run: begun{id: "run-new"}}
	c.setup.config.State = filepath.Join(folder, "state")
	var many []newestChat
	for i := range maxChats {
		many = append(many, newestChat{Folder: fmt.Sprint("/", i), Principal: ownPrincipal(), Place: "x", RunID: "run-old"})
	}
	data, err := json.Marshal(many)
	if err == nil {
		err = os.MkdirAll(c.setup.config.State, 0o700)
	}
	if err == nil {
		err = os.WriteFile(c.setup.chatsPath(), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := c.remember(); err != nil {
		t.Fatal(err)
	}
	chats, err := readChats(c.setup.chatsPath())
	if err != nil || len(chats) != maxChats || chats[0].RunID != "run-new" || chats[maxChats-1].Folder != fmt.Sprint("/", maxChats-2) {
		t.Errorf("%d chats, the first %+v, the last %+v, %v", len(chats), chats[0], chats[len(chats)-1], err)
	}
	if run, err := c.newestRun(); err != nil || run != "run-new" {
		t.Errorf("the newest is %q, %v", run, err)
	}
	c.task.server.addr = "unix:///elsewhere"
	if _, err := c.newestRun(); err == nil || !strings.Contains(err.Error(), "no chat of the folder") {
		t.Errorf("at a server: %v", err)
	}
}

// newestRun returns the id of the newest run of the journal.
func (w *world) newestRun() string {
	w.t.Helper()
	listed := w.run("runs", "-o", "json", "--limit", "1").stdout.String()
	_, id, _ := strings.Cut(listed, `"run_id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}
