package notify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/notify"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func parseKey(t *testing.T, text string) []byte {
	t.Helper()
	parsed, err := notify.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// serve returns the URL of a server on this host.
func serve(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server.URL
}

// hook returns a target for a URL of this host.
func hook(t *testing.T, url string) notify.Target {
	t.Helper()
	target := notify.Webhook(notify.HTTP{URL: url, Private: true}, [][]byte{parseKey(t, key)})
	t.Cleanup(func() { notify.CloseIdle(target) })
	return target
}

// hostile has texts that try to be something else in every place that a model, a tool or a caller
// writes.
func hostile() *notify.Content {
	bad := "<!channel> <@U0> @here [x](https://evil.example) *b* `code` ```\n## www.evil.example\u202e\x1b[31m\u200b<script>&amp;" + strings.Repeat(" ", 4000) + "hidden"
	return notify.NewContent(notify.Content{
		ID: "msg_1", Kind: notify.Waiting, Time: noon, Asks: loop.DecideApproval, Expires: noon.Add(3 * time.Hour), Left: 2*time.Hour + 59*time.Minute,
		Tenant: "red", Run: "red/run-1", Decision: "d1", Agent: "writer", For: "mallory@evil.example", Tool: bad, Rule: strings.Repeat("&", 1000), Arguments: bad + strings.Repeat(" x", 1<<20),
	})
}

// What the targets get of hostile texts is in golden files. Run the test with -update to rewrite
// them.
func TestHostileTexts(t *testing.T) {
	linked := hostile()
	linked.Link = "https://agents.example/decisions/red/run-1/d1"
	for name, make := range map[string]func(notify.HTTP) notify.Target{
		"webhook.json": func(h notify.HTTP) notify.Target { return notify.Webhook(h, [][]byte{parseKey(t, key)}) },
		"slack.json":   notify.Slack,
		"ntfy.json":    func(h notify.HTTP) notify.Target { h.URL += "/topic"; return notify.Ntfy(h, "tk_1") },
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				fmt.Fprintf(&got, "%s %s %q\n", r.Method, r.URL, r.Header.Get("Authorization"))
				body, _ := io.ReadAll(r.Body)
				if json.Indent(&got, body, "", "  ") != nil {
					t.Errorf("it is no JSON: %s", body)
				}
				got.WriteString("\n")
			})
			target := make(notify.HTTP{URL: url, Private: true})
			defer notify.CloseIdle(target)
			for _, c := range []*notify.Content{hostile(), linked} {
				if err := target.Send(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			golden(t, name, got.Bytes())
		})
	}
}

// golden compares with a golden file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || !bytes.Equal(want, got) {
		t.Errorf("%s differs, %v; the target got:\n%s", path, err, got)
	}
}

// No text of a tool makes a message larger than what every target takes.
func TestMessagesAreSmall(t *testing.T) {
	for _, text := range []string{strings.Repeat("&", 5000), strings.Repeat("a.b", 5000), strings.Repeat("\u202e", 5000), strings.Repeat("\U0001f600", 5000)} {
		c := notify.NewContent(notify.Content{Tenant: text, Agent: text, For: text, Tool: text, Rule: text, Arguments: text, Run: "run-1"})
		if n := len(c.Text()); n > 2000 {
			t.Errorf("%.3q makes a message of %d bytes", text, n)
		}
	}
}

// A message is signed with both keys, as the published example of Standard Webhooks is.
func TestSignatures(t *testing.T) {
	other := "whsec_" + strings.Repeat("AAAA", 8)
	got := notify.Signatures([][]byte{parseKey(t, key), parseKey(t, other)}, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	first, second, _ := strings.Cut(got, " ")
	if first != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" || !strings.HasPrefix(second, "v1,") || first == second {
		t.Errorf("the signatures are %s", got)
	}
	for _, bad := range []string{"", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_AAAA", "whsec_!", "whsec_" + strings.Repeat("AAAA", 30)} {
		if _, err := notify.ParseKey(bad); err == nil || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("the key %q: %v", bad, err)
		}
	}
}

// A target that answers a redirect is not followed, wherever it leads.
func TestRedirectsAreNotFollowed(t *testing.T) {
	followed := false
	inside := serve(t, func(http.ResponseWriter, *http.Request) { followed = true })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, inside, http.StatusTemporaryRedirect)
	})
	if err := hook(t, url).Send(t.Context(), hostile()); err == nil || !strings.Contains(err.Error(), "follows no redirect") || followed {
		t.Errorf("the redirect was followed: %v, %v", followed, err)
	}
}

// A target has to be permitted to be on this host, and none is where clouds have their metadata.
func TestAddresses(t *testing.T) {
	asked := false
	url := serve(t, func(http.ResponseWriter, *http.Request) { asked = true })
	for url, private := range map[string]bool{url: false, "http://169.254.169.254/latest": true, "https://169.254.169.254/latest": true, "http://10.0.0.1/": true, "https://10.0.0.1/": false} {
		target := notify.Slack(notify.HTTP{URL: url, Private: private})
		if err := target.Send(t.Context(), hostile()); err == nil || !strings.Contains(err.Error(), "not permitted") || asked {
			t.Errorf("%s: %v, %v", url, asked, err)
		}
	}
}

// An endless answer is not read to its end, and an endless reason is not repeated.
func TestEndlessAnswers(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusInternalServerError} {
		written := make(chan int, 1)
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			sum := 0
			for block := bytes.Repeat([]byte("x"), 1<<20); sum < 1<<30; {
				n, err := w.Write(block)
				if sum += n; err != nil {
					break
				}
			}
			written <- sum
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := hook(t, url).Send(t.Context(), hostile())
		runtime.ReadMemStats(&after)
		if (err == nil) != (status == http.StatusOK) || err != nil && len(err.Error()) > 2000 {
			t.Errorf("%d: %.3000v", status, err)
		}
		if n := <-written; n > 64<<20 { // what the sockets hold, on any system
			t.Errorf("the target could write %d bytes", n)
		}
	}
}

// A target that does not answer is given up after ten seconds.
func TestTargetsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		target := notify.WithTransport(hook(t, "https://hooks.example/secret"), func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		err := target.Send(t.Context(), hostile())
		if err == nil || err.Error() != "it did not answer within 10s" || time.Since(began) != 10*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

// An error has what the target says, and nothing of its URL, which may be secret.
func TestErrorsOfTargets(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "90")
		http.Error(w, "no_team\x1b[2J", http.StatusTooManyRequests)
	})
	err := hook(t, url+"/T0/SECRET").Send(t.Context(), hostile())
	if want := `it answered 429: no_team\x1b[2J`; err == nil || err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
	if pause := notify.PauseAfter(1, err); pause != 90*time.Second {
		t.Errorf("the target is asked again after %s", pause)
	}
	echoes := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, "Cannot POST %s with %s", r.URL, r.Header.Get("Authorization"))
	})
	for _, target := range []notify.Target{
		hook(t, echoes+"/services/T0/SECRET-PATH?key=SECRET-KEY"), notify.Ntfy(notify.HTTP{URL: echoes + "/SECRET-BASE/topic", Private: true}, "SECRET-TOKEN"),
	} {
		if err := target.Send(t.Context(), hostile()); err == nil || strings.Contains(err.Error(), "SECRET") || !strings.Contains(err.Error(), "Cannot POST") {
			t.Errorf("a server repeats the request: %v", err)
		}
		notify.CloseIdle(target)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if err := hook(t, gone.URL+"/T0/SECRET").Send(t.Context(), hostile()); err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("nothing listens: %v", err)
	}
}

// The pauses grow to an hour.
func TestPauses(t *testing.T) {
	for n, most := range map[int]time.Duration{0: 2 * time.Second, 1: 2 * time.Second, 2: 4 * time.Second, 11: 2048 * time.Second, 12: time.Hour, 1000: time.Hour} {
		if got := notify.PauseAfter(n, errors.New("no")); got < most/2 || got > most {
			t.Errorf("after failure %d: %s, want up to %s", n, got, most)
		}
	}
}

// A command gets the message and few variables. It is believed by its exit code.
func TestCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "got")
	send := func(script string) error {
		return notify.Command([]string{"/bin/sh", "-c", script, "sh", file}, []string{"PATH=" + os.Getenv("PATH")}).Send(t.Context(), hostile())
	}
	if err := send(`cat > "$1"; env >> "$1"`); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	line, environment, _ := strings.Cut(string(got), "\n")
	if err != nil || line != string(hostile().JSON()) || strings.Contains(environment, "HOME=") {
		t.Errorf("the command got %s, %v", got, err)
	}
	if err := send(`echo "no such user"; exit 3`); err == nil || !strings.HasPrefix(err.Error(), "the command failed: exit status 3: no such user") {
		t.Errorf("a command that fails: %v", err)
	}
	if err := send(`head -c 1000000 /dev/zero; exit 1`); err == nil || len(err.Error()) > 4000 {
		t.Errorf("a command that says much: %.5000v", err)
	}
}

// A command that does not end is killed with what it has started.
func TestCommandsThatHang(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { // ends with the command
		ended <- notify.Command([]string{"/bin/sh", "-c", `sleep 3600 & echo $! > "$1.new"; mv "$1.new" "$1"; wait`, "sh", file}, []string{"PATH=" + os.Getenv("PATH")}).Send(ctx, hostile())
	}()
	var pid int
	eventually.Holds(t, "the command has started another one", func() bool {
		text, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid > 0
	})
	cancel()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("the command: %v", err)
	}
	eventually.Holds(t, "what it started is gone", func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(state), ") Z ")
	})
}
