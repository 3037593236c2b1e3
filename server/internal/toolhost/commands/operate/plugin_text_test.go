package operate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// In each state of a plugin, the first suggested command is the one that corrects the state.
func TestRemedies(t *testing.T) {
	crashed := []tool.PluginExit{{Instance: "p-1", Exit: tool.Exit{Code: 2}}}
	for _, test := range []struct {
		name      string
		plugin    tool.PluginInfo
		instances []tool.InstanceInfo
		want      []string // commands; "" for a remedy without one
	}{
		{"healthy", tool.PluginInfo{State: tool.PluginEnabled, Instances: 1}, nil, []string{""}},
		{"not needed yet", tool.PluginInfo{State: tool.PluginEnabled}, nil, []string{""}},
		{"crashed", tool.PluginInfo{State: tool.PluginEnabled, RecentExits: crashed}, nil, []string{"", "toolhost logs p", "toolhost restart p"}},
		{"crashed and back", tool.PluginInfo{State: tool.PluginEnabled, RecentExits: crashed, Instances: 1, PreviousDigest: "sha256:ab"}, nil,
			[]string{"", "toolhost logs p", "toolhost rollback p"}},
		{"paused", tool.PluginInfo{State: tool.PluginPaused}, nil, []string{"toolhost resume p"}},
		{"backing off", tool.PluginInfo{State: tool.PluginBackingOff}, nil, []string{"toolhost clear p", "toolhost logs p"}},
		{"quarantined", tool.PluginInfo{State: tool.PluginQuarantined, PreviousDigest: "sha256:ab"}, nil,
			[]string{"toolhost clear p", "toolhost logs p", "toolhost rollback p"}},
		{"disabled", tool.PluginInfo{State: tool.PluginDisabled}, nil, []string{""}},
		{"unusable", tool.PluginInfo{State: tool.PluginUnusable}, nil, []string{"", "toolhost reload"}},
		{"locked out", tool.PluginInfo{State: tool.PluginUnusable, Refusal: &tool.PluginRefusal{Locked: true}}, nil, []string{"toolhost lock p"}},
		{"its new file is locked out", tool.PluginInfo{
			State: tool.PluginEnabled, Warnings: []string{"changed"}, Refusal: &tool.PluginRefusal{Locked: true, Name: "q"},
		}, nil, []string{"", "toolhost lock q"}},
		{"its new file is broken", tool.PluginInfo{State: tool.PluginEnabled, Warnings: []string{"changed"}, Refusal: &tool.PluginRefusal{}}, nil,
			[]string{"", "toolhost upgrade p"}},
		{"hangs", tool.PluginInfo{State: tool.PluginEnabled, Instances: 1}, []tool.InstanceInfo{{ID: "p-1", State: tool.InstanceUnhealthy}},
			[]string{"", "toolhost restart --force p"}},
	} {
		test.plugin.Name = "p"
		var got []string
		for _, r := range remedies(test.plugin, test.instances) {
			got = append(got, r.Command)
			if r.Effect == "" {
				t.Errorf("%s: %+v says nothing", test.name, r)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// `why` shows the reason of a crash from the log, if the exit kept only the end of a long stack.
func TestWhyShowsWhatIsTelling(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	exit := tool.PluginExit{Instance: "p-1", Time: now.Add(-time.Minute), Exit: tool.Exit{Code: -1, Signal: "SIGSEGV", OutOfMemory: true, LastStderr: []string{"rax 0x0"}}}
	w := explanation{
		now: now,
		plugin: tool.PluginInfo{
			Name: "p", Version: "2", State: tool.PluginQuarantined, Reason: "it crashed 5 times", RetryTime: now.Add(90 * time.Second),
			RecentExits: []tool.PluginExit{exit}, PreviousDigest: "sha256:before",
		},
		lines: []tool.LogLine{
			{Instance: "p-1", Record: tool.LogRecord{Message: "SIGSEGV: segmentation violation"}},
			{Instance: "p-2", Record: tool.LogRecord{Message: "panic: of another"}},
			{Instance: "p-1", Record: tool.LogRecord{Message: "rax 0x0"}},
		},
	}
	text := w.text()
	for _, want := range []string{
		"p 2 is quarantined: it crashed 5 times\n", "next try    in 1m30s, at ", "sha256:before",
		"1m0s ago  p-1 crashed: killed by SIGSEGV, out of memory\n      | SIGSEGV: segmentation violation\n      | rax 0x0\n",
		"  toolhost clear p ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "of another") {
		t.Errorf("the words of another process are in\n%s", text)
	}
}

// A process that was killed did not say why. So `why` also shows the last words of the crash before
// it.
func TestWhyShowsTheCrashBeforeAKill(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	exit := func(n int, e tool.Exit) tool.PluginExit {
		return tool.PluginExit{Instance: fmt.Sprintf("p-%d", n), Time: now.Add(-time.Minute), Exit: e}
	}
	w := explanation{now: now, plugin: tool.PluginInfo{Name: "p", State: tool.PluginEnabled, RecentExits: []tool.PluginExit{
		exit(4, tool.Exit{Code: -1, Signal: "SIGKILL", LastStderr: []string{"ready"}}),
		exit(3, tool.Exit{Code: -1, Signal: "SIGKILL", LastStderr: []string{"starting"}}),
		exit(2, tool.Exit{Code: 2, LastStderr: []string{"panic: newest"}}),
		exit(1, tool.Exit{Code: 2, LastStderr: []string{"panic: oldest"}}),
	}}}
	const want = "p-4 crashed: killed by SIGKILL\n      | ready\n" +
		"  2026-01-02 03:03:05.000  1m0s ago  p-3 crashed: killed by SIGKILL\n" +
		"  2026-01-02 03:03:05.000  1m0s ago  p-2 crashed: exit code 2\n      | panic: newest\n" +
		"  2026-01-02 03:03:05.000  1m0s ago  p-1 crashed: exit code 2\n\n"
	if text := w.text(); !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// `why` names the call that did not stop, for which toolhost stopped its process.
func TestWhyShowsAnUnhealthyExit(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := explanation{now: now, plugin: tool.PluginInfo{Name: "p", State: tool.PluginEnabled, RecentExits: []tool.PluginExit{{
		Instance: "p-1", Time: now.Add(-time.Minute), Expected: true, Unhealthy: true,
		Exit:  tool.Exit{Code: -1, Signal: "SIGKILL", Reason: "a call of spin did not stop when it was told to"},
		Calls: []tool.ExitCall{{CallID: "c7", Tool: "spin", Principal: "uid:3", StartTime: now.Add(-2 * time.Minute)}},
	}}}}
	const want = "1m0s ago  p-1 was unhealthy, and was stopped: killed by SIGKILL (a call of spin did not stop when it was told to)\n" +
		"      this call did not stop: spin, call c7 of uid:3, for 1m0s\n"
	if text := w.text(); !strings.Contains(text, want) {
		t.Errorf("want %q in\n%s", want, text)
	}
}

// All durations are in milliseconds, and the names of their fields end in _ms.
func TestDurationsInJSONAreMilliseconds(t *testing.T) {
	info := tool.Info{Spec: tool.Spec{Name: "t", Timeout: 2 * time.Second, Retry: tool.RetryPolicy{
		MaxAttempts: 3, InitialBackoff: 200 * time.Millisecond, MaxBackoff: 5 * time.Second,
	}}}
	var b strings.Builder
	if err := cli.WriteJSON(&b, viewTool(info)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"timeout_ms":2000`, `"retry":{"max_attempts":3,"initial_backoff_ms":200,"max_backoff_ms":5000}`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %s in %s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "000000") {
		t.Errorf("there are nanoseconds in %s", b.String())
	}
	for d, want := range map[time.Duration]float64{0: 0, 350 * time.Microsecond: .35, 1234567 * time.Nanosecond: 1.235, time.Minute: 60000} {
		if got := milliseconds(d); got != want {
			t.Errorf("%v is %v", d, got)
		}
	}
}

func TestWordsOfTables(t *testing.T) {
	now := time.Now()
	for got, want := range map[string]string{
		failures(nil): "-",
		failures(map[tool.Kind]uint64{tool.KindTimeout: 1, tool.KindCrashed: 7, tool.KindDenied: 1}): "crashed 7, denied 1, timeout 1",
		short(0):                       "-",
		short(1234567):                 "1.23ms",
		short(90*time.Second + 123456): "1m30s",
		retry(tool.PluginInfo{}, now):  "",
		retry(tool.PluginInfo{RetryTime: now.Add(-time.Second)}, now):           "now",
		retry(tool.PluginInfo{RetryTime: now.Add(300 * time.Millisecond)}, now): "in 300ms",
		limitDetails(nil): "none",
		limitDetails([]tool.EffectiveLimit{{Name: "open_files", Value: "64", Mechanism: "rlimit"}, {Name: "file_size", Value: "1048576", Mechanism: "rlimit"}}): "open files 64 (rlimit), file size 1.0 MiB (rlimit)",
		reloadText(tool.Reloaded{Added: []string{"a", "b"}, Removed: []string{"c"}, Upgraded: []string{"d"}}):                                                   "reloaded: added a, b; removed c; upgraded d",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTableOfCalls(t *testing.T) {
	begun := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	var b strings.Builder
	if err := writeCalls(&b, cli.Screen{}, []tool.CallRecord{
		{CallID: "a", Principal: "uid:7", Tool: "echo", Plugin: "fixture", State: tool.CallRunning, StartTime: begun},
		{
			CallID: "b", Principal: "uid:7", Session: "s", Tool: "echo", Plugin: "fixture", Instance: "fixture-1", State: tool.CallFailed,
			Err: &tool.Error{Kind: tool.KindTimeout, Message: "too slow"}, StartTime: begun, EndTime: begun.Add(3 * time.Second),
		},
	}); err != nil {
		t.Fatal(err)
	}
	want := "CALL  SESSION  PRINCIPAL  TOOL  INSTANCE   STATE    STARTED                  TOOK  WHY\n" +
		"a     -        uid:7      echo  fixture    running  TIME  -\n" +
		"b     s        uid:7      echo  fixture-1  failed   TIME  3s    timeout: too slow\n"
	if got := strings.ReplaceAll(b.String(), clock(begun), "TIME"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A configuration that is refused is not reloaded.
func TestARefusedReloadDoesNotSayReloaded(t *testing.T) {
	for want, done := range map[string]tool.Reloaded{
		"reloaded: nothing changed in the plugin folders":                                                    {},
		"reloaded: added a, b; removed c":                                                                    {Added: []string{"a", "b"}, Removed: []string{"c"}},
		"the configuration stays; the plugin folders were read again: upgraded a":                            {Upgraded: []string{"a"}, Configuration: &tool.ConfigurationChange{Problem: "line 2"}},
		"the configuration stays; the plugin folders were read again: nothing changed in the plugin folders": {Configuration: &tool.ConfigurationChange{Problem: "line 2"}},
	} {
		if text := reloadText(done); text != want {
			t.Errorf("got  %q\nwant %q", text, want)
		}
	}
}
