//go:build mcp

package mcpofficial

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// seen is what a client program saw, step by step: it lists the tools, calls one with a structured
// result, follows progress, cancels a call, reads a large result page by page, asks its user for an
// approval, once with success, and repeats a call with the same call id.
type seen struct {
	Tools             []string
	Sum               int
	Progress          []float64
	CanceledCallFails bool
	Canceled          bool // the tool saw the end of its context
	Pages, Bytes      int
	Question          string
	Approved          string
	Declined          bool
	Replayed          bool
}

// faults returns what a client of an SDK should have seen and did not. The SDK for TypeScript
// handles a notification one microtask after it reads it, and a result at once. So it drops all
// progress that arrives in the same read as the result: the last steps, or all of them if the
// client did not run for a while (Protocol._onnotification and _onresponse of
// @modelcontextprotocol/client).
func (s seen) faults(sdk string) []string {
	steps := []float64{1, 2, 3}
	followed := slices.Equal(s.Progress, steps)
	if sdk == "TypeScript" {
		followed = len(s.Progress) <= len(steps) && slices.Equal(s.Progress, steps[:len(s.Progress)])
	}
	var faults []string
	for what, ok := range map[string]bool{
		"the list of tools":   slices.Contains(s.Tools, "sum") && slices.Contains(s.Tools, "test_simple_text"),
		"a structured result": s.Sum == 42,
		"progress":            followed,
		"cancellation":        s.CanceledCallFails && s.Canceled,
		"a result in pages":   s.Pages == 3 && s.Bytes == 600_000,
		"the question":        strings.Contains(s.Question, "guarded"),
		"an approval":         s.Approved == "guarded: yes" && s.Declined,
		"a repeated call":     s.Replayed,
	} {
		if !ok {
			faults = append(faults, what)
		}
	}
	slices.Sort(faults)
	return faults
}

// fronts are the two ways to a running toolhost: the end of the arguments of a client program.
func (h *host) fronts(bin string) map[string][]string {
	return map[string][]string{
		"http":  {"http", h.url},
		"stdio": {"stdio", filepath.Join(bin, "toolhost"), "mcp", "serve", "--addr", h.addr},
	}
}

// TestOfficialClients checks that the official SDKs' clients can use all that toolhost offers, in
// both versions of the protocol, over HTTP and on standard input and output.
func TestOfficialClients(t *testing.T) {
	bin := build(t)
	h := serveServer(t, bin, versions[1], "")
	for name, program := range map[string][]string{
		"TypeScript": {"node", "clients/client.mjs"},
		"Python":     {".venv/bin/python", "clients/client.py"},
	} {
		for _, version := range versions {
			for front, target := range h.fronts(bin) {
				t.Run(strings.Join([]string{name, version, front}, " "), func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
					defer cancel()
					cmd := exec.CommandContext(ctx, program[0], append(append(slices.Clone(program[1:]), version), target...)...)
					var complaints strings.Builder
					cmd.Stderr = &complaints
					cmd.WaitDelay = time.Minute
					printed, err := cmd.Output()
					var s seen
					if err == nil {
						err = json.Unmarshal(printed, &s)
					}
					if err != nil {
						t.Fatalf("%v\n%s\n%s\n%s", err, printed, &complaints, h.log)
					}
					if faults := s.faults(name); len(faults) > 0 {
						t.Errorf("wrong: %s: %s", strings.Join(faults, ", "), printed)
					}
				})
			}
		}
	}
}

// TestDocumentedConfigurations checks that each configuration of a client in docs/mcp.md leads to a
// toolhost that the client of an official SDK can use. The test replaces the port of the example,
// and says by the environment which toolhost the command reaches.
func TestDocumentedConfigurations(t *testing.T) {
	bin := build(t)
	h := serveServer(t, bin, versions[1], "")
	page, err := os.ReadFile("../../../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## Configurations of clients\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) != 5 {
		t.Fatalf("%d configurations, want 5", len(blocks))
	}
	for _, block := range blocks {
		var files map[string]map[string]struct {
			Command      string
			Args         []string
			URL, HTTPURL string
		}
		if err := json.Unmarshal([]byte(block[1]), &files); err != nil {
			t.Fatalf("%v: %s", err, block[1])
		}
		for _, servers := range files {
			entry := servers["toolhost"]
			target := append([]string{"stdio", entry.Command}, entry.Args...)
			if url := entry.URL + entry.HTTPURL; url != "" {
				target = []string{"http", strings.Replace(url, "http://127.0.0.1:8765/mcp", h.url, 1)}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			cmd := exec.CommandContext(ctx, "node", append([]string{"clients/client.mjs", versions[0]}, target...)...)
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TOOLHOST_ADDR="+h.addr)
			out, err := cmd.CombinedOutput()
			cancel()
			var s seen
			if err == nil {
				err = json.Unmarshal(out, &s)
			}
			if err != nil || s.Sum != 42 {
				t.Errorf("%s: %v\n%s", block[1], err, out)
			}
		}
	}
}

// TestInspector checks that the command line of the MCP Inspector can list and call tools, and read
// a large result.
func TestInspector(t *testing.T) {
	const toolFailed = 5 // the Inspector's exit code for a result with isError
	bin := build(t)
	h := serveServer(t, bin, versions[1], "")
	for front, target := range h.fronts(bin) {
		t.Run(front, func(t *testing.T) {
			inspect := func(exit int, args ...string) string {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, "node", append(append([]string{"node_modules/.bin/mcp-inspector", "--cli"}, target[1:]...), args...)...)
				cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
				out, err := cmd.CombinedOutput()
				if cmd.ProcessState.ExitCode() != exit {
					t.Fatalf("%s: %v\n%s", cmd, err, out)
				}
				return string(out)
			}
			if out := inspect(0, "--method", "tools/list"); !strings.Contains(out, `"guarded"`) || !strings.Contains(out, `"outputSchema"`) {
				t.Errorf("tools/list: %s", out)
			}
			if out := inspect(0, "--method", "tools/call", "--tool-name", "sum", "--tool-arg", "a=40", "--tool-arg", "b=2"); !strings.Contains(out, `"sum": 42`) {
				t.Errorf("tools/call: %s", out)
			}
			out := inspect(0, "--method", "tools/call", "--tool-name", "large")
			_, uri, _ := strings.Cut(out, "toolhost://artifact/")
			uri, _, _ = strings.Cut(uri, `"`)
			if out := inspect(0, "--method", "resources/read", "--uri", "toolhost://artifact/"+uri); !strings.Contains(out, "toolhost/next") || len(out) < 200_000 {
				t.Errorf("resources/read: %.1000s", out)
			}
			if out := inspect(toolFailed, "--method", "tools/call", "--tool-name", "guarded", "--tool-arg", "what=x"); !strings.Contains(out, "was not executed") {
				t.Errorf("a call that needs an approval: %s", out)
			}
		})
	}
}
