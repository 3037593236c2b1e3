package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// vault allows calls only if a context value says so.
const vault = `
policy:
  rules:
    - {name: vault, when: 'tool.name == "guarded" && !(RULE)', then: deny, reason: only for admins}
`

// burgle lets a model write the context key role with a tool and then call the guarded tool. It
// returns what the model read. The model also writes an unprotected key.
func burgle(t *testing.T, h *toolhost, writer, agentd string, more ...string) string {
	t.Helper()
	script := filepath.Join(h.home, "script.yaml")
	write(t, script, strings.ReplaceAll(`
turns:
  - calls: [{id: w, tool: WRITER, arguments: {key: role, value: admin}}]
  - calls: [{id: n, tool: WRITER, arguments: {key: notes, value: [1]}}]
  - calls: [{id: g, tool: guarded, arguments: {}}]
  - text: '{{result "w"}} | {{result "g"}}'
`, "WRITER", writer), 0o600)
	write(t, filepath.Join(h.home, "agentd.yaml"), agentd, 0o600)
	h.trust(t, "agentd.yaml")
	return h.agentdOf(t, "", append([]string{"run", "go", "-o", "json", "--toolhost", h.addr, "--journal", filepath.Join(h.home, "runs.db"), "--model", "scripted:" + script}, more...)...)
}

// No result of a tool satisfies a rule about the context.
func TestAnEffectOpensNoRule(t *testing.T) {
	t.Parallel()
	const opened, allowed = "the vault is open", "tools: {write_declared: {effects: [role]}}\n"
	for name, tc := range map[string]struct {
		rule, host, agentd, writer string
		more                       []string
		open                       bool
	}{
		"undeclared":                       {`has(context.role) && context.role == "admin"`, "", "", "write_plain", nil, false},
		"declared, and a rule reads it":    {`has(context.role) && context.role == "admin"`, "", "", "write_declared", nil, false},
		"a rule that may read any key":     {`context.exists(k, k == "role" && context[k] == "admin")`, "", "", "write_declared", nil, false},
		"allowed by toolhost.yaml":         {`"role" in context && context["role"] == "admin"`, allowed, "", "write_declared", nil, true},
		"allowed, but not declared":        {`has(context.role) && context.role == "admin"`, "tools: {write_plain: {effects: [role]}}\n", "tools: {write_plain: {effects: [role]}}\n", "write_plain", nil, false},
		"set at the start":                 {`context.role == "admin"`, allowed, "", "write_declared", []string{"--context", `role="guest"`}, false},
		"set at the start, allowed in one": {`context.role == "admin"`, "", allowed, "write_declared", []string{"--context", `role="guest"`}, false},
		"set at the start, allowed":        {`context.role == "admin"`, allowed, allowed, "write_declared", []string{"--context", `role="guest"`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := swindled(t, strings.Replace(vault, "RULE", tc.rule, 1)+tc.host)
			lines := burgle(t, h, tc.writer, tc.agentd, tc.more...)
			if got := strings.Contains(lines, opened); got != tc.open {
				t.Errorf("the vault is open: %v\n%s", got, lines)
			}
			if refused := strings.Contains(lines, "[context not changed]"); refused == tc.open {
				t.Errorf("the model is told of a refusal: %v\n%s", refused, lines)
			}
			notes := tc.writer == "write_declared" && !strings.Contains(tc.rule, "exists")
			if wrote := strings.Contains(lines, `"keys":["notes"]`); wrote != notes {
				t.Errorf("notes were written: %v\n%s", wrote, lines)
			}
		})
	}
}
