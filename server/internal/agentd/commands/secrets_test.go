package commands

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
)

// The servers of models and of telemetry quote the secrets that they received in their errors. The
// log has the errors without the secrets.
func TestLogHasNoSecrets(t *testing.T) {
	const modelKey, token, given = "sk-test-7d21c0ffee", "tkn-93aa51bd", "env-5512dd90"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error": {"message": "wrong: %s, %s, %s", "code": "x", "type": "x", "param": "x"}}`,
			r.Header.Get("Authorization"), r.Header.Get("X-Token"), r.Header.Get("X-Given"))
	}))
	defer server.Close()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			w := newWorld(t).withToolhost()
			w.env["MODEL_KEY"], w.env["COLLECTOR"], w.env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] = modelKey, "Bearer "+token, "x-given="+given
			config := filepath.Join(w.folder, "agentd.yaml")
			if err := os.WriteFile(config, fmt.Appendf(nil, `
models: {m: {provider: openai, model: m, base_url: "%s", api_key_env: MODEL_KEY}}
log: {format: %s}
telemetry: {endpoint: "%s", protocol: http, headers: {x-token: {env: COLLECTOR}}, metrics: {interval: 1s}}
`, server.URL, format, server.URL), 0o600); err != nil {
				t.Fatal(err)
			}
			socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
			served, interrupt, wait := w.begin("serve", "--listen", socket, "--config", config, "--model", "m")
			served.stdout.until(t, "agentd is ready")
			a, err := client.DialAgent(socket)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			if _, err := a.StartRun(t.Context(), client.Task{Prompt: "hi"}); err != nil {
				t.Fatal(err)
			}
			served.stderr.until(t, "[secret MODEL_KEY]")
			served.stderr.until(t, "[secret header x-token]")
			interrupt()
			wait()
			for _, secret := range []string{modelKey, token, given} {
				if strings.Contains(served.stderr.String(), secret) {
					t.Errorf("the log has %s:\n%s", secret, served.stderr)
				}
			}
		})
	}
}
