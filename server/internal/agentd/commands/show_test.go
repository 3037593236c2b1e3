package commands

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// `show --follow` shows the events and the end of a run that another process works on.
func TestShowFollows(t *testing.T) {
	w := newWorld(t).withToolhost()
	script := w.script("turns: [{calls: [{id: a, tool: wait, arguments: {key: k}}]}, {text: 'It said: {{result \"a\"}}.'}]")
	e, _, wait := w.begin("run", "--model", script, "go")
	e.stdout.until(t, "→ wait")
	id := strings.Fields(w.run("runs").stdout.String())[7]
	shown, _, waitShown := w.begin("show", "--follow", id)
	asJSON, _, waitJSON := w.begin("show", "-f", "-o", "json", id)
	left, leave, waitLeft := w.begin("show", "-f", id)
	for _, f := range []ended{shown, asJSON, left} {
		f.stdout.until(t, "wait")
	}
	leave()
	if left.code = waitLeft(); left.code != 0 {
		left.want(t, 0)
	}
	w.untilWaiting("k") // the display shows a call before the call reaches the tool
	w.release("k")
	e.code, shown.code, asJSON.code = wait(), waitShown(), waitJSON()
	e.want(t, 0, "It said: ")
	shown.want(t, 0, "› go", "→ wait", "✓ wait (", "It said: ", "■ the run ended: end_turn")
	asJSON.want(t, 0, `"type":"run_started"`, `"type":"run_finished"`)
	w.run("show", "-f", id).want(t, 0, "■ the run ended: end_turn")
}

// release ends the calls of the tool wait that wait for a key, and has no effect if none does.
func (w *world) release(key string) {
	w.t.Helper()
	w.callHost("release", key)
}

// untilWaiting returns when a call of the tool "wait" with this key is in progress.
func (w *world) untilWaiting(key string) {
	w.t.Helper()
	for w.callHost("waiting", key) == "0" {
	}
}

// callHost calls a tool of the conformance suite with a key, and returns the text of the result.
func (w *world) callHost(name, key string) string {
	w.t.Helper()
	e, err := w.host.Open(w.t.Context(), tool.Call{Tool: name, Arguments: []byte(`{"key":"` + key + `"}`)}, true)
	if err != nil {
		w.t.Fatal(err)
	}
	defer e.Close()
	for {
		event, err := e.Next(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if event.Ended != nil {
			return event.Ended.Result.Text()
		}
	}
}

func TestReadingMakesNoJournal(t *testing.T) {
	w := newWorld(t)
	typo := filepath.Join(w.folder, "typo", "runs.db")
	w.run("runs", "--journal", typo).want(t, 2, "--journal: there is no file")
	w.run("show", "--journal", typo, "r").want(t, 2, "--journal: there is no file")
	w.run("runs").want(t, 0, "RUN")
	w.run("show", "r").want(t, 3, `not_found: run "r": no such run`)
	if left, err := filepath.Glob(filepath.Join(w.folder, "*")); err != nil || len(left) != 0 {
		t.Errorf("reading made %q, %v", left, err)
	}
}

// agentd shows the part of a broken journal that it can read. One broken run does not hide the
// others.
func TestABrokenJournalIsShownAsFarAsItCanBeRead(t *testing.T) {
	w := newWorld(t).withToolhost()
	script := w.script("turns: [{calls: [{tool: count, arguments: {key: k}}]}, {text: Fine.}]")
	w.run("run", "--model", script, "first").want(t, 0)
	w.run("run", "--model", script, "second").want(t, 0)
	id := strings.Fields(w.run("runs").stdout.String())[7]
	spoil := func(statement string) {
		t.Helper()
		db, err := sql.Open("sqlite", filepath.Join(w.folder, ".local", "state", toolhostProgram, journalName))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statement, []byte("{"), id); err != nil {
			t.Fatal(err)
		}
	}
	spoil("UPDATE records SET data = ? WHERE seq = 4 AND run = (SELECT number FROM runs WHERE id = ?)")
	w.run("show", id).want(t, 3, "› second", "→ count", "decoding event 4")
	spoil("UPDATE runs SET summary = ? WHERE id = ?")
	w.run("show", id).want(t, 3, "› second", "→ count", "decoding event 4")
	w.run("runs").want(t, 0, "first", id+"  unreadable")
}

// runs -f prints the runs, and then each run that is new or has changed.
func TestRunsAreFollowed(t *testing.T) {
	w := newWorld(t).withToolhost()
	model := w.script("turns:\n  - text: done\n")
	w.run("run", "--model", model, "first").want(t, 0)
	text, leave, waitText := w.begin("runs", "-f")
	asJSON, leaveJSON, waitJSON := w.begin("runs", "--follow", "-o", "json")
	text.stdout.until(t, "first")
	asJSON.stdout.until(t, `"prompt":"first"`)
	w.run("run", "--model", model, "second").want(t, 0)
	text.stdout.until(t, "second")
	asJSON.stdout.until(t, `"prompt":"second"`)
	leave()
	leaveJSON()
	if waitText() != 0 || waitJSON() != 0 || strings.Count(text.stdout.String(), "first") != 1 || strings.Count(text.stdout.String(), "RUN") != 1 {
		t.Errorf("the runs:\n%s%s%s", text.stdout, text.stderr, asJSON.stderr)
	}
}
