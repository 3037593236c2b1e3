package e2e_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// reloads is the number of reloads of TestReloadUnderLoad. With 24, each wrong file comes once
// trusted and once untrusted. `make reloads` sets more.
var reloads = flag.Int("reloads", 24, "how often to reload the configuration under load")

// callersOfReload is the number of callers during the reloads.
const callersOfReload = 64

// generation returns a configuration in which the rules allow the calls of a tool only with the
// settings of the tool in the same configuration. A call that combined two configurations would be
// denied. Some configurations differ in what the plugin's process gets, so that it is replaced.
func generation(number int) string {
	return fmt.Sprintf(`new_plugins: allow
reload: {watch: false}
audit: {log: all}
defaults: {sandbox: {read: [%[3]q]}}
plugin: {versionplugin: {env: {GENERATION: "%[2]d"}, max_instances: %[4]d}}
calls: {default_timeout: %[5]ds}
tools: {versionplugin_read: {tags: [generation-%[1]d], max_concurrent: %[6]d}}
policy:
  rules:
    - {name: whole-%[1]d, when: '"generation-%[1]d" in tool.tags', then: allow}
    - {name: mixed, when: 'tool.name == "versionplugin_read"', then: deny, reason: 'rules and settings of different configurations'}
`, number, number/4, bin, 1+number%2, 30+number%5, 8+number%64)
}

// wrongFiles are files that toolhost refuses, with a part of the reason.
var wrongFiles = []struct{ text, problem string }{
	{"listen: [\n", "toolhost.yaml:"},
	{"no_such_key: 1\n", "no_such_key"},
	{"policy: {rules: [{name: x, when: 'tool.name ==', then: deny}]}\n", "toolhost.yaml:1:"},
	{"calls: {default_timeout: 20m}\n", "max_timeout"},
}

// putConfiguration replaces the configuration file in one step, as an editor does.
func putConfiguration(t *testing.T, h *toolhost, text string) {
	t.Helper()
	path := filepath.Join(h.home, "toolhost.yaml")
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// Right and wrong files follow each other under 64 callers. No call fails because of a reload, and
// each call is judged by one whole configuration.
func TestReloadUnderLoad(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	putConfiguration(t, h, generation(0))
	installStamped(t, h, "1", "", "")
	h.serve(t)
	var made atomic.Int64
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range callersOfReload {
		c := h.dial(t)
		callers.Go(func() { // ends with stop, or with its first failed call
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for {
				select {
				case <-stop:
					return
				case <-tick.C:
				}
				outcome, err := c.Call(t.Context(), tool.Call{Tool: "versionplugin_read", Arguments: json.RawMessage(`{}`)})
				if err != nil || outcome.Result.IsError {
					t.Errorf("a call failed: %v %q", err, outcome.Result.Text())
					return
				}
				made.Add(1)
			}
		})
	}
	const untrusted = "is not trusted"
	admin, inForce, seen := h.dial(t), 0, map[string]bool{}
	for i := 1; i <= *reloads && !t.Failed(); i++ {
		before := made.Load()
		if i%3 == 0 {
			number := i/3 - 1
			wrong := wrongFiles[number%len(wrongFiles)]
			putConfiguration(t, h, wrong.text)
			if number/len(wrongFiles)%2 == 1 {
				wrong.problem = untrusted
			} else {
				h.trust(t, "toolhost.yaml")
			}
			refused(t, admin, wrong.problem)
			seen[wrong.problem] = true
		} else {
			inForce = i
			putConfiguration(t, h, generation(i))
			h.trust(t, "toolhost.yaml")
			applied(t, admin)
		}
		servesGeneration(t, admin, inForce)
		eventually.Holds(t, "calls end", func() bool { return t.Failed() || made.Load() > before+callersOfReload })
	}
	close(stop)
	callers.Wait()
	t.Logf("%d calls during %d reloads", made.Load(), *reloads)
	if len(seen) != len(wrongFiles)+1 {
		t.Errorf("toolhost reported only %v", slices.Collect(maps.Keys(seen)))
	}
	audited(t, h)
}

// refused reloads a wrong file.
func refused(t *testing.T, admin *client.Client, problem string) {
	t.Helper()
	done, err := admin.Admin().Reload(t.Context())
	if err != nil || done.Configuration == nil || !strings.Contains(done.Configuration.Problem, problem) || len(done.Configuration.Changes) > 0 {
		t.Errorf("after a wrong file: %+v, %v; want a problem with %q", done.Configuration, err, problem)
	}
}

// applied reloads a right file.
func applied(t *testing.T, admin *client.Client) {
	t.Helper()
	done, err := admin.Admin().Reload(t.Context())
	if err != nil || done.Configuration == nil || done.Configuration.Problem != "" || len(done.Failures) > 0 {
		t.Errorf("after a right file: %+v, %v", done, err)
	}
}

// servesGeneration checks that the settings of a configuration are in force.
func servesGeneration(t *testing.T, c *client.Client, number int) {
	t.Helper()
	info, err := c.GetTool(t.Context(), "versionplugin_read", tool.Viewer{})
	if want := fmt.Sprintf("generation-%d", number); err != nil || len(info.Spec.Tags) != 1 || info.Spec.Tags[0] != want {
		t.Errorf("the tool has the tags %q, %v; want %s", info.Spec.Tags, err, want)
	}
}

// audited checks that a rule of one whole configuration allowed each call.
func audited(t *testing.T, h *toolhost) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(h.state, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]int{}
	for line := range strings.Lines(string(log)) {
		var entry struct{ Tool, Rule string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		if entry.Tool == "" { // not about a call, but about a command such as reload
			continue
		}
		rules[entry.Rule]++
		if !strings.HasPrefix(entry.Rule, "whole-") {
			t.Errorf("the rule %q decided a call of %s", entry.Rule, entry.Tool)
		}
	}
	if len(rules) < *reloads/2 {
		t.Errorf("only %d configurations decided calls", len(rules))
	}
}

// `toolhost config diff` shows what a reload would change, `toolhost reload` applies it and names
// what needs a restart, and a SIGHUP does the same.
func TestReloadByCommandAndSignal(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	putConfiguration(t, h, generation(0))
	installStamped(t, h, "1", "", "")
	h.serve(t)
	h.do(t, "config", "diff").exits(t, 0)
	putConfiguration(t, h, generation(4)+"launch: {parallel: 2}\nlog: {level: debug}\n")
	h.trust(t, "toolhost.yaml")
	r := h.do(t, "config", "diff")
	r.exits(t, 1)
	r.says(t, "plugin.versionplugin.env.GENERATION", "(hidden)", "log.level", "launch.parallel", "restart", "policy.rules[whole-4].when")
	servesGeneration(t, h.looks, 0)
	r = h.do(t, "reload")
	r.exits(t, 0)
	r.says(t, "tools.versionplugin_read.tags", "restart toolhost to apply launch.parallel")
	servesGeneration(t, h.looks, 4)
	h.do(t, "config", "diff").exits(t, 1) // the restart is still needed
	putConfiguration(t, h, wrongFiles[1].text)
	h.trust(t, "toolhost.yaml")
	for _, command := range [][]string{{"reload"}, {"config", "diff"}} {
		r = h.do(t, command...)
		r.exits(t, 2)
		r.says(t, "toolhost.yaml:1:1", "no_such_key")
	}
	signal := func(logged string) {
		t.Helper()
		if err := h.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		eventually.Holds(t, "the log says "+logged, func() bool { return strings.Contains(h.stderr.String(), logged) })
	}
	signal("no_such_key")
	servesGeneration(t, h.looks, 4)
	putConfiguration(t, h, generation(5))
	h.trust(t, "toolhost.yaml")
	signal("policy.rules[whole-5]")
	servesGeneration(t, h.looks, 5)
}
