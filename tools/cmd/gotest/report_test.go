package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// events is what go test -json writes about a package with a test that passes and one that is
// skipped, about one with a test that fails and one whose process dies, and about one that does not
// compile.
const events = `{"Action":"start","Package":"a"}
{"Action":"run","Package":"a","Test":"TestGood"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"a","Test":"TestGood","Output":"noise\n"}
{"Action":"pass","Package":"a","Test":"TestGood"}
{"Action":"run","Package":"a","Test":"TestLater"}
{"Action":"output","Package":"a","Test":"TestLater","Output":"=== RUN   TestLater\n"}
{"Action":"output","Package":"a","Test":"TestLater","Output":"    later_test.go:7: not here\n"}
{"Action":"output","Package":"a","Test":"TestLater","Output":"--- SKIP: TestLater (0.00s)\n"}
{"Action":"skip","Package":"a","Test":"TestLater"}
{"Action":"output","Package":"a","Output":"PASS\n"}
{"Action":"output","Package":"a","Output":"ok  \ta\t0.1s\n"}
{"Action":"pass","Package":"a"}
{"Action":"output","Package":"none","Output":"?   \tnone\t[no test files]\n"}
{"Action":"skip","Package":"none"}
{"Action":"run","Package":"b","Test":"TestBad"}
{"Action":"output","Package":"b","Test":"TestBad","Output":"    bad_test.go:3: why\n"}
{"Action":"fail","Package":"b","Test":"TestBad"}
{"Action":"run","Package":"b","Test":"TestDies"}
{"Action":"output","Package":"b","Test":"TestDies","Output":"last words\n"}
{"Action":"output","Package":"b","Output":"FAIL\tb\t0.2s\n"}
{"Action":"fail","Package":"b"}
{"Action":"build-output","ImportPath":"c","Output":"c.go:1:1: broken\n"}
this line is no event
`

func TestReport(t *testing.T) {
	var out bytes.Buffer
	r := newReport(&out)
	if err := follow(strings.NewReader(events), r); err != nil {
		t.Fatal(err)
	}
	r.finish()
	want := "skipped a.TestLater: later_test.go:7: not here\n" +
		"ok  \ta\t0.1s\n" +
		"?   \tnone\t[no test files]\n" +
		"    bad_test.go:3: why\n" +
		"FAIL\tb\t0.2s\n" +
		"c.go:1:1: broken\n" +
		"this line is no event\n" +
		"last words\n" +
		"1 passed, 1 failed, 1 skipped\n"
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSkippedTestsFailWhereTheyMust(t *testing.T) {
	r := newReport(&bytes.Buffer{})
	r.add(event{Action: "skip", Package: "none"})
	if err := r.verdict(true); err != nil {
		t.Errorf("a package without tests is held for a skipped test: %v", err)
	}
	r.add(event{Action: "skip", Package: "a", Test: "TestLater"})
	if err := r.verdict(false); err != nil {
		t.Errorf("a person may skip tests, and got %v", err)
	}
	if err := r.verdict(true); err == nil || !strings.Contains(err.Error(), "a.TestLater") {
		t.Errorf("got %v, want an error that names a.TestLater", err)
	}
}

func TestAliveNamesTheTestThatRunsLongest(t *testing.T) {
	var out bytes.Buffer
	r := newReport(&out)
	r.alive(time.Time{})
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r.add(event{Action: "run", Package: "a", Test: "TestShort", Time: begin.Add(30 * time.Second)})
	r.add(event{Action: "run", Package: "a", Test: "TestLong", Time: begin})
	r.alive(begin.Add(40 * time.Second))
	r.add(event{Action: "pass", Package: "a", Test: "TestLong"})
	r.alive(begin.Add(50 * time.Second))
	want := "... compiling\n... running a.TestLong for 40s\n... running a.TestShort for 20s\n"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A real run: a test of this package by name, and a package that is not there.
func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"-count=1", "-run=^TestSkippedTestsFailWhereTheyMust$", "."}
	if err := run(t.Context(), args, true, &out, &errs); err != nil {
		t.Errorf("got %v, %s%s", err, &out, &errs)
	}
	if got := out.String(); !strings.HasPrefix(got, "ok  \t") || !strings.HasSuffix(got, "1 passed, 0 failed, 0 skipped\n") {
		t.Errorf("got %q", got)
	}
	if err := run(t.Context(), []string{"./missing"}, false, &out, &errs); err == nil {
		t.Error("a package that is not there passes")
	}
}
