package commands

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A run that is resumed from a folder with another configuration keeps its model. If the model is
// unavailable, the error says so and how to proceed.
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

// A run that began with --base-url does not silently continue at another address.
func TestResumeKeepsTheAddressOfTheModel(t *testing.T) {
	w := newWorld(t).withToolhost()
	w.env["OPENAI_API_KEY"] = "k"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadRequest) }))
	t.Cleanup(server.Close)
	withPassword := strings.Replace(server.URL, "//", "//u:hunter2@", 1)
	begun := w.run("run", "--model", "openai:m", "--base-url", withPassword, "-o", "json", "hi")
	begun.want(t, 1, "model_error")
	id := regexp.MustCompile(`run-[a-z0-9]+`).FindString(begun.stdout.String())
	refused := w.run("resume", id)
	refused.want(t, 2, "--base-url", "the provider's own address", "//u:xxxxx@")
	if strings.Contains(refused.stderr.String(), "hunter2") {
		t.Errorf("a password is kept:\n%s", refused.stderr)
	}
	w.run("resume", id, "--base-url", withPassword).want(t, 1, "the run ended: model_error")
	w.run("resume", id, "--base-url", "http://127.0.0.1:9").want(t, 1, "the run ended: model_error")
}
