package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// events is what gotestsum records of a run: a test that passes, one that fails and passes when it
// runs again, one that always fails, one that is skipped, and one whose process dies.
const events = `{"Action":"run","Package":"a","Test":"TestGood"}
{"Action":"pass","Package":"a","Test":"TestGood"}
{"Action":"run","Package":"a","Test":"TestNowAndThen"}
{"Action":"output","Package":"a","Test":"TestNowAndThen","Output":"=== RUN   TestNowAndThen\n"}
{"Action":"run","Package":"a","Test":"TestNowAndThen/part"}
{"Action":"output","Package":"a","Test":"TestNowAndThen/part","Output":"    then_test.go:4: too slow\n"}
{"Action":"fail","Package":"a","Test":"TestNowAndThen/part"}
{"Action":"output","Package":"a","Test":"TestNowAndThen","Output":"--- FAIL: TestNowAndThen (1.00s)\n"}
{"Action":"fail","Package":"a","Test":"TestNowAndThen"}
{"Action":"run","Package":"b","Test":"TestBad"}
{"Action":"output","Package":"b","Test":"TestBad","Output":"    bad_test.go:3: why\n"}
{"Action":"fail","Package":"b","Test":"TestBad"}
{"Action":"run","Package":"b","Test":"TestLater"}
{"Action":"output","Package":"b","Test":"TestLater","Output":"    later_test.go:7: not here\n"}
{"Action":"output","Package":"b","Test":"TestLater","Output":"--- SKIP: TestLater (0.00s)\n"}
{"Action":"skip","Package":"b","Test":"TestLater"}
{"Action":"skip","Package":"none"}
{"Action":"run","Package":"c","Test":"TestDies"}
{"Action":"output","Package":"c","Test":"TestDies","Output":"last words\n"}
{"Action":"fail","Package":"c"}
this line is no event
{"Action":"run","Package":"a","Test":"TestNowAndThen"}
{"Action":"run","Package":"a","Test":"TestNowAndThen/part"}
{"Action":"pass","Package":"a","Test":"TestNowAndThen/part"}
{"Action":"pass","Package":"a","Test":"TestNowAndThen"}
{"Action":"run","Package":"b","Test":"TestBad"}
{"Action":"output","Package":"b","Test":"TestBad","Output":"    bad_test.go:3: why again\n"}
{"Action":"fail","Package":"b","Test":"TestBad"}
`

// folder returns a folder as the scripts of a run write it.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCountsFailSkipsInCI(t *testing.T) {
	file := filepath.Join(folder(t, map[string]string{"race.jsonl": events}), "race.jsonl")
	const want = "FLAKY a.TestNowAndThen\nskipped b.TestLater: later_test.go:7: not here\n3 passed, 2 failed, 1 skipped\n"
	var out bytes.Buffer
	if err := run([]string{"tests", file}, false, &out); err != nil || out.String() != want {
		t.Errorf("got %q and %v, want %q", out.String(), err, want)
	}
	if err := run([]string{"tests", file}, true, &out); err == nil {
		t.Error("a skipped test does not fail a strict run")
	}
}

func TestRunNamesEachFailure(t *testing.T) {
	dir := folder(t, map[string]string{
		"steps":        "gofmt\tok\t1\tgofmt.log\ngo test\tFAILED\t20\tgo-test.log\nPython SDK\tok\t3\tpython.log\n",
		"gofmt.log":    "",
		"go-test.log":  strings.Repeat("noise\n", 1000) + "the end\n",
		"python.log":   "E   assert 1 == 2\nFLAKY tests/test_x.py::test_y\n2 passed\n",
		"race.jsonl":   events,
		"counts.jsonl": "",
	})
	var out bytes.Buffer
	if err := run([]string{"run", dir}, true, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"step        result  seconds\n", "go test     FAILED  20\n", "FAILED step go test\n", "    the end\n",
		"FAILED b.TestBad\n        bad_test.go:3: why again\n", "UNFINISHED c.TestDies\n    last words\n",
		"FLAKY a.TestNowAndThen\n    --- FAIL: TestNowAndThen (1.00s)\n        then_test.go:4: too slow\n",
		"FLAKY tests/test_x.py::test_y\n    E   assert 1 == 2\n",
		"SKIPPED b.TestLater\n", "\n4 passed, 2 failed, 1 skipped\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
	if n := strings.Count(out.String(), "\n"); n > 100 {
		t.Errorf("the report has %d lines", n)
	}
}

func TestManyFlakyTestsFailTheRun(t *testing.T) {
	var log strings.Builder
	for range maxFlaky + 1 {
		log.WriteString("FLAKY test" + strings.Repeat("x", log.Len()) + "\n")
	}
	dir := folder(t, map[string]string{"steps": "TypeScript SDK\tok\t1\tts.log\n", "ts.log": log.String()})
	if err := run([]string{"run", dir}, true, &bytes.Buffer{}); err == nil {
		t.Errorf("a run with %d flaky tests passes", maxFlaky+1)
	}
}

// A test of a package about what runs and when must pass the first time.
func TestSomeTestsPassTheFirstTime(t *testing.T) {
	for name, want := range map[string]bool{
		"example.org/m/server/internal/toolhost/host": true, "example.org/m/server/internal/toolhost/host/ledger": true, "example.org/m/server/internal/agentd/loop": true,
		"example.org/m/server/internal/toolhost/hostile": false, "example.org/m/server/internal/toolhost/hostserver": false, "example.org/m/sdk": false,
	} {
		again := `{"Action":"run","Package":"P","Test":"TestX"}` + "\n" + `{"Action":"fail","Package":"P","Test":"TestX"}` + "\n" +
			`{"Action":"run","Package":"P","Test":"TestX"}` + "\n" + `{"Action":"pass","Package":"P","Test":"TestX"}` + "\n"
		file := filepath.Join(folder(t, map[string]string{"x.jsonl": strings.ReplaceAll(again, `"P"`, `"`+name+`"`)}), "x.jsonl")
		if err := run([]string{"tests", file}, true, &bytes.Buffer{}); (err != nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRatesNameEachFailure(t *testing.T) {
	file := filepath.Join(folder(t, map[string]string{"flaky.jsonl": events}), "flaky.jsonl")
	const want = "1 of 2 runs failed: a.TestNowAndThen\n2 of 2 runs failed: b.TestBad\n3 passed, 2 failed, 1 skipped\n"
	var out bytes.Buffer
	if err := run([]string{"rates", file}, false, &out); err == nil || out.String() != want {
		t.Errorf("got %q and %v, want %q and an error", out.String(), err, want)
	}
}
