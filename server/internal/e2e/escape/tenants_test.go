//go:build linux && (amd64 || arm64)

package escape_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// tenantSettings is the toolhost.yaml of a toolhost that serves tenants. The user
// of the test may act for principals of all tenants.
func (w *world) tenantSettings(mode string) string {
	return fmt.Sprintf(`workspace: {mode: %s, folder: %s}
policy: {rules: [{name: everything, when: "true", then: allow}]}
auth:
  bindings:
    - {role: admin, principals: ["uid:%d"], tenants: [all]}
    - {role: delegate, principals: ["uid:%[3]d"], tenants: [all]}
    - {role: caller, members_of: [red, blue]}
secrets:
  TOKEN:
    plugins: [escapeplugin]
    tenants: {red: {file: %[4]s}, blue: {command: [/bin/echo, token-of-blue]}}
`, mode, w.path("workspaces"), os.Getuid(), w.path("secrets/token"))
}

// shell runs a command with the shell tool for a principal.
func (h *toolhost) shell(t *testing.T, p client.Principal, session, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(client.OnBehalfOf(t.Context(), p), patience)
	defer cancel()
	shown := 64 << 10
	outcome, err := h.client.Call(ctx, tool.Call{Tool: "shell", Session: session, Arguments: []byte(fmt.Sprintf(`{"command": %q}`, command)), MaxShown: &shown})
	if err != nil {
		t.Fatalf("%v of %+v: %v", command, p, err)
	}
	return outcome.Result.Text()
}

// A tool of one tenant reaches nothing of another tenant: neither the workspace, HOME and TMPDIR,
// nor the environment, processes, sockets and secrets.
func TestTenants(t *testing.T) {
	w := newWorld(t, nobodyOrSelf())
	w.file(t, "toolhost.yaml", w.tenantSettings("tenant"))
	h := w.serve(t)
	red, blue := client.Principal{Tenant: "red", Name: "ada"}, client.Principal{Tenant: "blue", Name: "ada"}
	own := strings.Fields(h.shell(t, red, "", "echo "+h.canary+" >canary.txt; mkdir inside; echo "+h.canary+" >inside/canary.txt; echo "+h.canary+
		" >$HOME/canary.txt; echo "+h.canary+" >$TMPDIR/canary.txt; pwd; echo $HOME $TMPDIR; sleep 300 "+h.canary+" >/dev/null 2>&1 & echo $PPID"))
	if again := h.shell(t, client.Principal{Tenant: "red", Name: "bob"}, "", "cat canary.txt"); !strings.Contains(again, h.canary) {
		t.Fatalf("principals of one tenant do not share a workspace: %s", again)
	}
	var folders []string
	for _, field := range own {
		if filepath.IsAbs(field) {
			folders = append(folders, field)
		}
	}
	if len(folders) != 3 {
		t.Fatalf("the first tenant has the folders %q", own)
	}
	for name, command := range map[string]string{
		"paths":              "cat " + strings.Join(folders, "/canary.txt ") + "/canary.txt",
		"lists":              "ls -R " + strings.Join(folders, " ") + " " + w.path("workspaces") + " | grep -i canary",
		"dots":               "cat ../../*/files/canary.txt ../*/canary.txt",
		"finding it":         "timeout 20 grep -rs canary- / --include=canary.txt --exclude-dir=proc --exclude-dir=sys",
		"a link":             "ln -s " + folders[0] + " l; cat l/canary.txt; rm -f l",
		"a link to the root": "ln -s /proc/1/root r; cat r" + folders[0] + "/canary.txt; rm -f r",
		"environments":       "cat /proc/*/environ | tr '\\0' '\\n' | grep -e canary- -e " + filepath.Base(filepath.Dir(folders[0])),
		"command lines":      "cat /proc/*/cmdline | tr '\\0' '\\n' | grep ^canary-",
		"working folders":    "cat /proc/*/cwd/canary.txt",
		"roots":              "for p in /proc/[0-9]*; do cat $p/root" + folders[0] + "/canary.txt; done",
		"descriptors":        "cat /proc/*/fd/* </dev/null | grep -a canary- & sleep 2; kill $!",
		"the secret":         "cat " + w.path("secrets/token"),
		"renaming":           "mv ../files ../other && echo " + escaped + "; mv . ../../stolen && echo " + escaped,
		"replacing":          "rmdir ../files; ln -sfn " + folders[0] + " ../files && cat ../files/canary.txt",
		"the record":         "cat ../owner.json && echo " + escaped + "; echo >../owner.json && echo " + escaped,
		"sockets":            "timeout 20 find / -xdev -type s 2>/dev/null | grep . && echo " + escaped,
	} {
		t.Run(name, func(t *testing.T) {
			if got := h.shell(t, blue, "", command); leaks(got, h.canary) || strings.Contains(got, escaped) && !strings.Contains(got, "echo "+escaped) {
				t.Errorf("a tool of another tenant got out: %s", clip(got))
			}
		})
	}
	if got := h.shell(t, red, "", "cat canary.txt inside/canary.txt; ls -a"); strings.Count(got, h.canary) != 2 || strings.Contains(got, "stolen") {
		t.Errorf("the workspace of the first tenant is changed: %s", got)
	}
	// A file with a protected name ends the processes that can write there, and only those of this
	// tenant.
	ctx := client.OnBehalfOf(t.Context(), blue)
	if outcome, err := h.client.Call(ctx, tool.Call{Tool: "shell", Arguments: []byte(`{"command": "echo x >toolhost.yaml; sleep 60"}`)}); err == nil {
		t.Errorf("a tool wrote a configuration file into its workspace: %s", outcome.Result.Text())
	}
	instances, err := h.client.Admin().Instances(t.Context(), "shell")
	if err != nil || !slices.ContainsFunc(instances, func(in tool.InstanceInfo) bool { return in.Tenant == "red" && in.TotalCalls == 3 }) {
		t.Errorf("the instances are %+v, %v", instances, err)
	}
}

// With the mode session, each session of each principal has its own workspace.
func TestSessionWorkspaces(t *testing.T) {
	w := newWorld(t, nobodyOrSelf())
	w.file(t, "toolhost.yaml", w.tenantSettings("session"))
	h := w.serve(t)
	red := client.Principal{Tenant: "red", Name: "ada"}
	h.shell(t, red, "../../x", "echo "+h.canary+" >canary.txt")
	if got := h.shell(t, red, "../../x", "cat canary.txt"); !strings.Contains(got, h.canary) {
		t.Errorf("the session has lost its file: %s", got)
	}
	for _, other := range []struct {
		principal client.Principal
		session   string
	}{{red, "y"}, {red, ""}, {red, "x"}, {client.Principal{Tenant: "red", Name: "bob"}, "../../x"}, {client.Principal{Tenant: "blue", Name: "ada"}, "../../x"}} {
		if got := h.shell(t, other.principal, other.session, "pwd; ls -a; timeout 20 grep -rs canary- "+w.base); leaks(got, h.canary) {
			t.Errorf("the session %q of %+v has the file: %s", other.session, other.principal, got)
		}
	}
	entries, err := os.ReadDir(w.path("workspaces"))
	if err != nil || len(entries) != 7 { // six workspaces and the lock
		t.Errorf("the folder has %v, %v", entries, err)
	}
}
