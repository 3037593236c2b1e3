package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// recorder is a server that records requests and answers with handle.
type recorder struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string // method, path, headers and body
}

func record(t *testing.T, handle http.HandlerFunc) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		body, _ := io.ReadAll(asked.Body)
		r.mu.Lock()
		r.requests = append(r.requests, fmt.Sprint(asked.Method, " ", asked.URL, " ", asked.Header, " ", string(body)))
		r.mu.Unlock()
		handle(w, asked)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) asked() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests)
}

// The server at the base URL attacks: it redirects agentd's request to a server of the attacker.
func TestModelServerCannotSendTheKeyElsewhere(t *testing.T) {
	t.Parallel()
	h := start(t)
	for _, model := range []string{"anthropic:claude-test", "openai:gpt-test", "openai-responses:gpt-test", "gemini:gemini-test"} {
		for name, attack := range keyAttacks() {
			t.Run(model+" "+name, func(t *testing.T) {
				thief := record(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
				server := record(t, attack(thief.URL))
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				base, env := server.URL, []string{"ANTHROPIC_API_KEY=sk-secret", "OPENAI_API_KEY=sk-secret", "GEMINI_API_KEY=sk-secret"}
				if strings.HasPrefix(name, "a proxy") {
					base, env = "http://model.test/v1", append(env, "HTTP_PROXY="+server.URL)
				}
				r := run(t, command(ctx, h.home, env, "agentd", "run", "--toolhost", h.addr,
					"--journal", newHome(t)+"/j.db", "--model", model, "--base-url", base, "a private question"))
				r.exits(t, 1)
				r.says(t, "model_error", "another origin", "set the base URL")
				if stolen := thief.asked(); len(stolen) > 0 {
					t.Errorf("the attacker's server got %q", stolen)
				}
				if n := len(server.asked()); n < 1 || n > 2 {
					t.Errorf("the server was asked %d times", n)
				}
				if strings.Contains(r.stdout+r.stderr, "sk-secret") {
					t.Errorf("the key is in the output: %s%s", r.stdout, r.stderr)
				}
			})
		}
	}
}

// keyAttacks returns servers that try to make agentd send its request, with the key, to the server
// at another URL.
func keyAttacks() map[string]func(stolen string) http.HandlerFunc {
	return map[string]func(stolen string) http.HandlerFunc{
		"another port": func(stolen string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, stolen+r.URL.Path, http.StatusTemporaryRedirect)
			}
		},
		"another name of the host, permanently": func(stolen string) http.HandlerFunc {
			target := strings.Replace(stolen, "127.0.0.1", "localhost", 1)
			return func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, target+r.URL.Path, http.StatusPermanentRedirect)
			}
		},
		"a redirect to itself first": func(stolen string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/moved") {
					http.Redirect(w, r, stolen+"/v1", http.StatusTemporaryRedirect)
					return
				}
				http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
			}
		},
		"a proxy that redirects": func(stolen string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, stolen+"/v1", http.StatusTemporaryRedirect)
			}
		},
		"a refusal, then a redirect": func(stolen string) http.HandlerFunc {
			var once sync.Once
			return func(w http.ResponseWriter, r *http.Request) {
				broken := false
				once.Do(func() { broken = true })
				if broken {
					w.Header().Set("Retry-After-Ms", "1")
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				http.Redirect(w, r, stolen+r.URL.Path, http.StatusTemporaryRedirect)
			}
		},
	}
}
