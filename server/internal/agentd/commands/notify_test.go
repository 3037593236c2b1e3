package commands

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
)

// receiver is a webhook that verifies signatures and keeps what it gets.
type receiver struct {
	t      *testing.T
	url    string
	secret string // of the key file

	mu     sync.Mutex
	broken bool
	tried  int
	got    []string // types, with the tool and what the message says
	ids    []string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t, secret: base64.StdEncoding.EncodeToString([]byte("thirty-two bytes of a secret key"))}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	id := request.Header.Get("webhook-id")
	key, _ := base64.StdEncoding.DecodeString(r.secret)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, request.Header.Get("webhook-timestamp"), body)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); request.Header.Get("webhook-signature") != want {
		r.t.Errorf("the signature is %q, want %q", request.Header.Get("webhook-signature"), want)
	}
	var m struct {
		Type string
		Data struct{ Tool, Says, Command string }
	}
	if err := json.Unmarshal(body, &m); err != nil {
		r.t.Errorf("the message is %s: %v", body, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tried++; r.broken {
		http.Error(w, "down for a moment", http.StatusServiceUnavailable)
		return
	}
	if slices.Contains(r.ids, id) {
		return // a reload has interrupted the answer, so the message is sent again
	}
	r.got, r.ids = append(r.got, strings.TrimSpace(fmt.Sprint(m.Type, " ", m.Data.Tool, " ", m.Data.Says))), append(r.ids, id)
}

func (r *receiver) set(broken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = broken
}

func (r *receiver) received() (tried int, got []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tried, slices.Clone(r.got)
}

// A run with a dangerous call causes one message that it waits, signed, also if the server ends
// before the target takes it. Another one says how the run ended.
func TestMessagesOfARun(t *testing.T) {
	w, hook := newWorld(t).withToolhost(), newReceiver(t)
	hook.set(true)
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	file, key := filepath.Join(w.folder, "told.yaml"), filepath.Join(w.folder, "key")
	if err := os.WriteFile(key, []byte("whsec_"+hook.secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	model := w.script("turns: [{calls: [{tool: danger, arguments: {}}]}, {text: done}]")
	route := func(on string) {
		t.Helper()
		text := fmt.Sprintf("model: %q\nnotify:\n  targets:\n    ops: {kind: webhook, url: %q, keys: [{file: %q}], allow_private: true}\n"+
			"  routes:\n    - {on: [%s], to: [ops], arguments: true}\n", model, hook.url, key, on)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	route("waiting, ending")
	w.run("notify", "ops", "--config", file).want(t, 3, "it answered 503: down for a moment")
	w.run("notify", "chat", "--config", file).want(t, 2, "there are: ops")

	args := []string{"serve", "--config", file, "--listen", socket, "--journal", filepath.Join(w.folder, "runs.db")}
	first, interrupt, wait := w.begin(args...)
	first.stdout.until(t, "agentd is ready at "+socket)
	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	first.stderr.until(t, "down for a moment")
	first.stderr.until(t, "until=")
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, first.stderr)
	}
	hook.set(false)
	second, interrupt, wait := w.begin(args...)
	second.stdout.until(t, "agentd is ready at "+socket)
	eventually.Holds(t, "the message arrives after the restart", func() bool { _, got := hook.received(); return len(got) == 1 })
	route("waiting, ending, finished, failed")
	w.run("reload", "--config", file, "--addr", socket).want(t, 0, "in force for new runs: notify.routes")
	w.run("respond", id, "--addr", socket, "--approve", "d1").want(t, 0)
	eventually.Holds(t, "the end of the run is told", func() bool { _, got := hook.received(); return len(got) > 1 })
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, second.stderr)
	}
	if _, got := hook.received(); !slices.Equal(got, []string{"decision.waiting danger {}", "run.finished"}) {
		t.Errorf("the target got %q", got)
	}
	w.run("notify", "ops", "--config", file).want(t, 0, "the target ops took the message")
	if err := os.WriteFile(key, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run("serve", "--config", file).want(t, 2, "notify.targets.ops.keys[0]: a key is whsec_")
}

// A file that a tool of the toolhost could have written says neither where messages go nor what is
// executed.
func TestTargetsThatToolsCanWrite(t *testing.T) {
	w := newWorld(t)
	workspace := filepath.Join(w.folder, "workspace")
	file, stolen := filepath.Join(w.folder, "told.yaml"), filepath.Join(workspace, "url")
	for _, err := range []error{os.Mkdir(workspace, 0o700), os.WriteFile(stolen, []byte("https://evil.example"), 0o700)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.host = hosttest.New(t, func(c *host.Config) { c.Workspace, c.WritableFolders = workspace, []string{workspace} }, hosttest.Tools()...)
	w.withToolhost()
	for _, target := range []string{"{kind: slack, secret_url: {file: workspace/url}}", "{kind: command, command: [" + stolen + "]}"} {
		if err := os.WriteFile(file, []byte("notify: {targets: {ops: "+target+"}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		serve := w.run("serve", "--config", file, "--listen", "unix://"+filepath.Join(w.folder, "a.sock"), "--journal", filepath.Join(w.folder, "runs.db"), "--model", w.script("turns: [{text: hi}]"))
		serve.want(t, cli.ExitUntrusted, stolen)
	}
}
