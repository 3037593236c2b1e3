package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/audit"
)

func search(t *testing.T, files []string, q audit.Query) []uint64 {
	t.Helper()
	var got []uint64
	if err := audit.Search(t.Context(), files, q, func(line audit.Line) error { got = append(got, line.Seq); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

// The last lines that match are those that a search from the oldest line finds last, also if the
// lines are longer than what is read at once, and if the newest one is incomplete.
func TestTheLastLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path, MaxBytes: 1 << 20})
	for n := range 400 {
		record(t, l, audit.Decision{Principal: fmt.Sprint("p", n%7), Reason: strings.Repeat("é", n*5), Rule: strings.Repeat("<", n*4), Outcome: audit.Denied})
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(`{"seq":9999,"principal":"p1"}`); err != nil {
		t.Fatal(err)
	}
	file.Close()
	files, err := audit.Files(path)
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, q := range []audit.Query{{}, {Principal: "p1"}, {Principal: "none"}, {Outcome: audit.Denied}} {
		all := search(t, files, q)
		for _, q.Last = range []int{1, 2, 50, 399, 1000} {
			if got, want := search(t, files, q), all[max(0, len(all)-q.Last):]; !slices.Equal(got, want) {
				t.Errorf("%+v: %v, want %v", q, got, want)
			}
		}
	}
}

// What is left out without decoding does not match.
func TestQueriesOfTimeAndText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path})
	at := time.Date(2026, 5, 19, 12, 0, 0, 0, time.UTC)
	for n, tool := range []string{"a.b", "a<b", "ü", `q"t`, `x,"time":"1999-01-01T00:00:00Z"`} {
		record(t, l, audit.Decision{Time: at.Add(time.Duration(n) * 300 * time.Millisecond), Tool: tool, Outcome: audit.Denied})
		if got := search(t, []string{path}, audit.Query{Tool: tool, Since: at}); !slices.Equal(got, []uint64{uint64(n + 1)}) {
			t.Errorf("%s: %v", tool, got)
		}
	}
	for since, want := range map[time.Duration][]uint64{
		-time.Hour: {1, 2, 3, 4, 5}, 0: {1, 2, 3, 4, 5}, time.Nanosecond: {2, 3, 4, 5}, 900 * time.Millisecond: {4, 5}, time.Second: {5}, 2 * time.Second: nil,
	} {
		if got := search(t, []string{path}, audit.Query{Since: at.Add(since).In(time.FixedZone("", 3600))}); !slices.Equal(got, want) {
			t.Errorf("since %s: %v, want %v", since, got, want)
		}
	}
}

// A follower gets each line once, also if the log has gone on in several files meanwhile.
func TestFollowOverManyFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path, MaxBytes: 1000})
	record(t, l, audit.Decision{Outcome: audit.Denied})
	ctx, cancel := context.WithCancel(t.Context())
	begun, written := make(chan bool), make(chan bool)
	const lines = 40
	go func() {
		<-begun
		for range lines {
			record(t, l, audit.Decision{Outcome: audit.Denied})
		}
		close(written)
	}()
	var got []uint64
	err := l.Follow(ctx, audit.Query{Kind: audit.OfCall}, func(line audit.Line) error {
		if got = append(got, line.Seq); len(got) == 1 {
			close(begun)
			<-written
		}
		if len(got) == 1+lines {
			cancel()
		}
		return nil
	})
	files, _ := audit.Files(path)
	if err != nil || len(got) != 1+lines || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) || len(files) < 4 {
		t.Errorf("got %v from %d files, %v", got, len(files), err)
	}
}

// BenchmarkSearch searches a log of about 100 MB.
func BenchmarkSearch(b *testing.B) {
	path := filepath.Join(b.TempDir(), "audit.jsonl")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	at := time.Date(2026, 5, 19, 12, 0, 0, 0, time.UTC)
	prev := strings.Repeat("0", 64)
	for n := range 250_000 {
		fmt.Fprintf(file, `{"seq":%d,"prev":"%s","time":"%s","kind":"call","tenant":"red","principal":"red/ada","session":"","call_id":"call-%d","tool":"fs.write","plugin":"fs","decision":"allowed","rule":"writes","arguments_sha256":"%s"}`+"\n",
			n+1, prev, at.Add(time.Duration(n)*time.Second).Format(time.RFC3339Nano), n, prev)
	}
	file.Close()
	for name, q := range map[string]audit.Query{
		"last": {Last: 10}, "call": {CallID: "call-77"}, "since": {Since: at.Add(249_990 * time.Second)}, "denied": {Outcome: audit.Denied},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := audit.Search(b.Context(), []string{path}, q, func(audit.Line) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A follower that is slower than the removal of files says which lines it could not read.
func TestFollowNamesAGap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, audit.Config{File: path, MaxBytes: 1000, KeepFiles: 1})
	record(t, l, audit.Decision{Outcome: audit.Denied})
	var last uint64
	err := l.Follow(t.Context(), audit.Query{}, func(line audit.Line) error {
		if last++; line.Seq != last {
			t.Errorf("line %d follows line %d", line.Seq, last-1)
		}
		for range 40 {
			record(t, l, audit.Decision{Outcome: audit.Denied})
		}
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "are gone; they were not read") {
		t.Errorf("got %v", err)
	}
}

// What was written before the log was closed is followed.
func TestFollowUntilTheLogIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l, err := audit.Open(audit.Config{File: path})
	if err != nil {
		t.Fatal(err)
	}
	record(t, l, audit.Decision{Outcome: audit.Denied})
	seen := 0
	err = l.Follow(t.Context(), audit.Query{}, func(audit.Line) error {
		if seen++; seen == 1 {
			record(t, l, audit.Decision{Outcome: audit.Denied})
			return l.Close()
		}
		return nil
	})
	if err != nil || seen != 2 {
		t.Errorf("%d lines, %v", seen, err)
	}
}
