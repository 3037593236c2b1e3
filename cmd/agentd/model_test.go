package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestResumeKeepsTheModel: the configuration of another folder does not change the model of a run. Where the model cannot be had,
// the error says so, and what to do.
func TestResumeKeepsTheModel(t *testing.T) {
	w := newWorld(t).withToolhost()
	first := w.script(twoTurns)
	id := regexp.MustCompile(`run-[a-z0-9]+`).FindString(w.run("run", "--model", first, "-o", "json", "hi").stdout.String())
	other := filepath.Join(w.folder, "other.yaml")
	if err := os.WriteFile(other, []byte("turns: [{text: another model}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(w.folder, "agentd.yaml")
	if err := os.WriteFile(config, []byte("model: scripted:"+other+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run("resume", "--config", config, id).want(t, 0)
	if err := os.Rename(first[len("scripted:"):], filepath.Join(w.folder, "gone.yaml")); err != nil {
		t.Fatal(err)
	}
	w.run("resume", "--config", config, id).want(t, 2, "was begun with the model "+first, "--model MODEL")
	w.run("resume", "--config", config, "--model", "scripted:"+other, id).want(t, 0)
}
