package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
)

// browser sends the requests of a browser to the pages at an address.
type browser struct {
	t    *testing.T
	http *http.Client
	at   string // IP:PORT
	host string // by which the browser knows the pages
}

// get and post return a page, after redirects.
func (b *browser) get(path string) string { b.t.Helper(); return b.send(http.MethodGet, path, nil) }
func (b *browser) post(path string, form url.Values) string {
	b.t.Helper()
	return b.send(http.MethodPost, path, form)
}

func (b *browser) send(method, path string, form url.Values) string {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, "http://"+b.at+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Host = b.host
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := b.http.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if to := resp.Header.Get("Location"); to != "" {
		return b.get(to)
	}
	return string(page)
}

// From a code to a verdict, at the pages of a server: the run goes on, and the audit log says who
// decided where.
func TestThePagesOfAServer(t *testing.T) {
	w := newWorld(t).withPay()
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	config := filepath.Join(w.folder, "config.yaml")
	if err := os.WriteFile(config, []byte("console: {listen: '127.0.0.1:0'}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server, interrupt, wait := w.begin("serve", "--listen", socket, "--config", config, "--journal", filepath.Join(w.folder, "served.db"), "--model", w.script(payScript))
	server.stdout.until(t, "agentd is ready")
	at := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(server.stdout.String())
	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "go", People: &client.People{Attended: true}})
	if err != nil {
		t.Fatal(err)
	}
	awaitDecisions(t, a, id, 1)

	printed := w.run("console", "--addr", socket, "-o", "json")
	var code consoleView
	if err := json.Unmarshal([]byte(printed.stdout.String()), &code); err != nil {
		t.Fatal(err, printed.stderr.String())
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, at: at, host: strings.TrimPrefix(code.URL, "http://"), http: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if page := b.get("/decisions/" + id + "/d1"); !strings.Contains(page, `value="/decisions/`+id+`/d1"`) {
		t.Fatalf("a person who is not logged in sees\n%s", page)
	}
	page := b.post("/login", url.Values{"code": {code.Code}, "to": {"/decisions/" + id + "/d1"}})
	user := fmt.Sprintf("uid:%d", os.Getuid())
	for _, part := range []string{"May pay be called?", "mallory", "as " + user} {
		if !strings.Contains(page, part) {
			t.Fatalf("the page lacks %q:\n%s", part, page)
		}
	}
	if inbox := b.get("/"); !strings.Contains(inbox, "/decisions/"+id+"/d1") {
		t.Errorf("the inbox is\n%s", inbox)
	}
	if story := b.get("/runs/" + id); !strings.Contains(story, "waits for d1") {
		t.Errorf("the run is\n%s", story)
	}
	form := url.Values{"verdict": {"approve"}, "text": {"fine"}}
	for _, input := range regexp.MustCompile(`name="(etag|request_id)" value="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		form.Set(input[1], input[2])
	}
	if made := b.post("/decisions/"+id+"/d1", form); !strings.Contains(made, user+" approved it") {
		t.Fatalf("the verdict leads to\n%s", made)
	}
	if again := b.post("/decisions/"+id+"/d1", form); !strings.Contains(again, user+" approved it") { // the same request
		t.Errorf("the same verdict once more leads to\n%s", again)
	}
	awaitDecisions(t, a, id, 0)
	if log := w.audited("/toolhost.decision.v1.DecisionService/Decide", ""); len(log) == 0 || !strings.Contains(log[0], `"console 127.0.0.1"`) {
		t.Errorf("the audit log has %q", log)
	}
	b.post("/logout", nil)
	if page := b.get("/"); !strings.Contains(page, "Log in") {
		t.Errorf("after the logout, the inbox is\n%s", page)
	}
	interrupt()
	if exit := wait(); exit != 0 {
		t.Errorf("agentd ended with %d: %s", exit, server.stderr.String())
	}
}
