//go:build more

package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
)

// question is a query of a dashboard.
type question struct{ place, expr string }

// questions returns the queries of all panels and variables of a dashboard.
func questions(t *testing.T, file string) (all []question) {
	t.Helper()
	var board struct {
		Title  string
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Type, Definition string }
		}
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			all = append(all, question{board.Title + ", " + p.Title, target.Expr})
		}
	}
	for _, v := range board.Templating.List {
		if v.Type != "query" {
			continue
		}
		// Grafana offers the values that one label of this selector has.
		selector, _, _ := strings.Cut(strings.TrimPrefix(v.Definition, "label_values("), ", "+v.Name+")")
		all = append(all, question{board.Title + ", the variable " + v.Name, selector})
	}
	return all
}

// askEverything runs each query of each dashboard. The dashboard of one process is for toolhost and
// for agentd.
func askEverything(t *testing.T, s *site, p *prometheus, _ []string) {
	s.retry(t, p)
	s.call(t.Context(), "", "calculator", map[string]string{"expression": "6*7"}) // so that it has an instance
	s.call(t.Context(), "", "no-such-tool", fault{})
	every := map[string]string{"job": ".+", "instance": ".+", "plugin": "calculator"}
	choices := map[string][]map[string]string{"overview": {every}, "plugin": {every}, "agent-runs": {every}}
	for job, instance := range s.metrics {
		choices["process"] = append(choices["process"], map[string]string{"job": job, "instance": instance})
	}
	files, err := filepath.Glob("../../../../deploy/grafana/*.json")
	if err != nil || len(files) != len(choices) {
		t.Fatalf("the dashboards are %v, want %d: %v", files, len(choices), err)
	}
	asked := 0
	for _, file := range files {
		for _, q := range questions(t, file) {
			for _, values := range choices[strings.TrimSuffix(filepath.Base(file), ".json")] {
				asked++
				query := strings.ReplaceAll(q.expr, "$__rate_interval", "10m")
				for name, value := range values {
					query = strings.ReplaceAll(query, "$"+name, value)
				}
				eventually.Shows(t, q.place+" has an answer", func() (bool, any) { return len(p.query(t, query)) > 0, query })
			}
		}
	}
	t.Logf("%d queries have an answer", asked)
}

// retry kills the calculator under its calls until toolhost repeats one of them. All calls differ,
// because toolhost refuses a call that was executing during three crashes.
func (s *site) retry(t *testing.T, p *prometheus) {
	t.Helper()
	n := 0
	eventually.Holds(t, "a call is repeated", func() bool {
		instances, err := s.tools.Admin().Instances(t.Context(), "calculator")
		if err != nil {
			t.Fatal(err)
		}
		var calls sync.WaitGroup
		for range 20 {
			n++
			expression := map[string]string{"expression": fmt.Sprintf("1+%d", n)}
			calls.Go(func() { s.call(t.Context(), "", "calculator", expression) })
		}
		for _, in := range instances {
			if in.PID > 0 {
				_ = syscall.Kill(in.PID, syscall.SIGKILL) // it may have ended
			}
		}
		calls.Wait()
		return len(p.query(t, `toolhost_call_retries_total{plugin="calculator"} > 0`)) > 0
	})
}
