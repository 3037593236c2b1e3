package deploy

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// runbook is the address of the page that has a paragraph for each alert, with the alert's name as
// its heading. A test of server/internal/e2e/docs checks that the paragraphs exist.
const runbook = "https://github.com/toolhost/toolhost/blob/main/docs/runbook-alerts.md#"

// ruleFile is a file with rules. promtool checks it in `make check`, with Prometheus's own parser
// of such files, which would bring the client of Kubernetes with it.
type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []rule
	}
}

type rule struct {
	Alert, Record, Expr, For string
	Labels, Annotations      map[string]string
}

// Every alert has a severity, a summary and a paragraph of the runbook, uses only metrics that
// exist, and has a unit test, which promtool runs in `make check`.
func TestAlerts(t *testing.T) {
	all := known(t)
	files, err := filepath.Glob("prometheus/*.rules.yml")
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	alerts := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var rules ruleFile
		decoder := yaml.NewDecoder(bytes.NewReader(text))
		decoder.KnownFields(true)
		if err := decoder.Decode(&rules); err != nil {
			t.Fatal(err)
		}
		tests, err := os.ReadFile(filepath.Join("prometheus/tests", strings.TrimSuffix(filepath.Base(file), ".rules.yml")+".yml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range rules.Groups {
			for _, rule := range group.Rules {
				checkQuery(t, all, rule.Alert+rule.Record, rule.Expr)
				if rule.Alert != "" {
					alerts++
					checkAlert(t, &rule, string(tests))
				}
			}
		}
	}
	if alerts < 12 {
		t.Errorf("there are %d alerts", alerts)
	}
}

func checkAlert(t *testing.T, rule *rule, tests string) {
	t.Helper()
	if severity := rule.Labels["severity"]; severity != "critical" && severity != "warning" {
		t.Errorf("%s has the severity %q", rule.Alert, severity)
	}
	for _, name := range []string{"summary", "description"} {
		if rule.Annotations[name] == "" {
			t.Errorf("%s has no %s", rule.Alert, name)
		}
	}
	if url := rule.Annotations["runbook_url"]; url != runbook+strings.ToLower(rule.Alert) {
		t.Errorf("%s links to %q", rule.Alert, url)
	}
	for _, test := range []string{"- alertname: " + rule.Alert + "\n", "{alertname: " + rule.Alert + ","} {
		if !strings.Contains(tests, test) {
			t.Errorf("prometheus/tests does not test when %s fires and when it does not: it has no %q", rule.Alert, test)
		}
	}
}
