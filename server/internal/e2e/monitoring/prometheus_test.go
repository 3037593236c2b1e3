//go:build more

package monitoring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// prometheus is a running Prometheus.
type prometheus struct{ url string }

// startPrometheus starts a Prometheus that reads the metrics of the targets, by job, and evaluates
// the rules in dir, once per second. It ends with the test.
func startPrometheus(t *testing.T, dir string, targets map[string]string) *prometheus {
	t.Helper()
	config := "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [\"*.rules.yml\"]\nscrape_configs:\n"
	for job, at := range targets {
		config += fmt.Sprintf("  - {job_name: %s, static_configs: [{targets: [%q]}]}\n", job, at)
	}
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &prometheus{url: "http://" + freeAddress(t)}
	var log bytes.Buffer
	cmd := exec.Command("prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+strings.TrimPrefix(p.url, "http://"))
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Prometheus's log:\n%s", &log)
		}
	})
	eventually.Holds(t, "Prometheus is ready", func() bool {
		resp, err := http.Get(p.url + "/-/ready")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return p
}

// sample is one series of the answer to a query.
type sample struct {
	Metric map[string]string
	Value  []any // the time, and the value as text
}

// query returns the answer to a query at this moment.
func (p *prometheus) query(t *testing.T, query string) []sample {
	t.Helper()
	resp, err := http.Get(p.url + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []sample }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Status != "success" {
		t.Fatalf("the query %s: %s: %v", query, answer.Error, err)
	}
	return answer.Data.Result
}

// firing returns the alerts that fire.
func (p *prometheus) firing(t *testing.T) map[string]bool {
	t.Helper()
	alerts := map[string]bool{}
	for _, s := range p.query(t, `ALERTS{alertstate="firing"}`) {
		alerts[s.Metric["alertname"]] = true
	}
	return alerts
}

// fires waits until all of these alerts fire. Until then it calls cause again and again, a few
// times per second. cause may be nil.
func (p *prometheus) fires(t *testing.T, cause func(), alerts ...string) {
	t.Helper()
	var caused time.Time
	eventually.Shows(t, strings.Join(alerts, ", ")+" fires", func() (bool, any) {
		if cause != nil && time.Since(caused) > 200*time.Millisecond {
			cause()
			caused = time.Now()
		}
		firing, all := p.firing(t), true
		for _, alert := range alerts {
			all = all && firing[alert]
		}
		return all, firing
	})
}

// resolves waits until none of these alerts fires.
func (p *prometheus) resolves(t *testing.T, alerts ...string) {
	t.Helper()
	eventually.Shows(t, strings.Join(alerts, ", ")+" resolves", func() (bool, any) {
		firing := p.firing(t)
		for _, alert := range alerts {
			if firing[alert] {
				return false, firing
			}
		}
		return true, nil
	})
}

// freeAddress returns an address at which no process listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	return socket.Addr().String()
}

// thresholds are the numbers of the rules that a test cannot reach in seconds, and what it puts in
// their place.
var thresholds = map[string]string{
	"_bucket[10m]))) > 30\n":                       "_bucket[10m]))) > 0.5\n",
	"agentd_runs_longest_wait_seconds > 3600\n":    "agentd_runs_longest_wait_seconds > 1\n",
	"(increase(agentd_cost_total[1h])) > 20\n":     "(increase(agentd_cost_total[1h])) > 0.5\n",
	"toolhost_ledger_id_limit > 0.9\n":             "toolhost_ledger_id_limit > 0.9\n",
	"toolhost_disk_size_bytes < 0.1\n":             "toolhost_disk_size_bytes < 0.1\n",
	"(toolhost_launches_failed_total[10m])) > 2.5": "(toolhost_launches_failed_total[10m])) > 0.5",
}

var (
	wait     = regexp.MustCompile(`(?m)^( +for:) .*$`)
	lookBack = regexp.MustCompile(`\[\d+[smh]\]`)
)

// shortRules writes the rules of deploy with short times and low thresholds to dir, and returns the
// names of the alerts.
func shortRules(t *testing.T, dir string) (alerts []string) {
	t.Helper()
	files, err := filepath.Glob("../../../../deploy/prometheus/*.rules.yml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	all := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
		rules := string(text)
		for long, short := range thresholds {
			rules = strings.ReplaceAll(rules, long, short)
		}
		rules = lookBack.ReplaceAllString(wait.ReplaceAllString(rules, "$1 1s"), "[10s]")
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(rules), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for long := range thresholds {
		if !strings.Contains(all, long) {
			t.Errorf("no rule has %q any more", long)
		}
	}
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(all, -1) {
		alerts = append(alerts, m[1])
	}
	return alerts
}

// promtool finds no mistake in the rules and the example configuration, and the unit tests of the
// rules succeed.
func TestPromtool(t *testing.T) {
	dir := "../../../../deploy/prometheus/"
	for _, check := range []struct{ command, files string }{{"check config", "prometheus.yml"}, {"check rules", "*.rules.yml"}, {"test rules", "tests/*.yml"}} {
		files, err := filepath.Glob(dir + check.files)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		out, err := exec.Command("promtool", append(strings.Fields(check.command), files...)...).CombinedOutput()
		if err != nil {
			t.Errorf("promtool %s: %v\n%s", check.command, err, out)
		}
	}
}

// A rule that never fires fails its unit test. Without this test, a mistake in the names of the
// files would make promtool check nothing.
func TestPromtoolFindsMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"toolhost.rules.yml", "tests/toolhost.yml"} {
		text, err := os.ReadFile("../../../../deploy/prometheus/" + name)
		if err == nil {
			wrong := strings.Replace(string(text), "toolhost_plugin_state{state=\"quarantined\"} == 1", "toolhost_plugin_state{state=\"none\"} == 1", 1)
			err = errors.Join(os.MkdirAll(filepath.Join(dir, "tests"), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(wrong), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("promtool", "test", "rules", filepath.Join(dir, "tests/toolhost.yml")).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ToolhostPluginQuarantined") {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}
