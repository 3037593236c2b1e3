package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/plugins/fs/search"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// alike are searches that have the same meaning for grep and for this plugin.
var alike = []struct {
	name  string
	in    grepInput
	flags []string
}{
	{"a word", grepInput{Pattern: "Deadline"}, nil},
	{"a rare text", grepInput{Pattern: "goroutine leak"}, nil},
	{"fixed", grepInput{Pattern: "fmt.Errorf(\"%w", Fixed: true}, []string{"-F"}},
	{"any case", grepInput{Pattern: "todo", IgnoreCase: true}, []string{"-i"}},
	{"any case, expression", grepInput{Pattern: "func [a-z]+error", IgnoreCase: true}, []string{"-i"}},
	{"context", grepInput{Pattern: "func Test[A-Z]", Before: 2, After: 3, Glob: "*_test.go"}, []string{"-B2", "-A3", "--include=*_test.go"}},
	{"alternatives", grepInput{Pattern: "panic|recover|runtime"}, nil},
	{"no literal", grepInput{Pattern: `^[a-z]+ [a-z]+$`}, nil},
	{"words", grepInput{Pattern: `\bctx\b.*\bcancel\b`}, nil},
	{"a glob", grepInput{Pattern: "license", IgnoreCase: true, Glob: "*.md"}, []string{"-i", "--include=*.md"}},
	{"an excluded folder", grepInput{Pattern: "package", Exclude: "internal"}, []string{"--exclude-dir=internal"}},
	{"empty lines", grepInput{Pattern: `^$`, Glob: "*.md"}, []string{"--include=*.md"}},
}

// goSays returns the output of a go command without the newline at its end.
func goSays(t testing.TB, arguments ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", arguments...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// grepPath returns the path of grep, or "" and logs that there is nothing to compare with.
func grepPath(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("grep")
	if err != nil {
		t.Log("there is no grep on this machine to compare with")
		return ""
	}
	return path
}

// markedLine identifies a line by file and number, and says whether it is a match.
type markedLine struct {
	path   string
	number int
	match  bool
}

func TestGrepFindsWhatGrepFinds(t *testing.T) {
	grepPath := grepPath(t)
	if grepPath == "" {
		return
	}
	dir := goSays(t, "list", "-m", "-f", "{{.Dir}}", "golang.org/x/net")
	ws := openDir(t, dir)
	for _, test := range alike {
		t.Run(test.name, func(t *testing.T) {
			got, want := ours(t, ws, test.in), theirs(t, grepPath, dir, test.in.Pattern, test.flags)
			if len(want) == 0 {
				t.Error("grep found nothing, so the test shows nothing")
			}
			if len(got) != len(want) {
				t.Errorf("got %d lines, grep %d", len(got), len(want))
			}
			different := 0
			for _, line := range slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got))) {
				if !sameText(got[line], want[line]) || !has(got, line) || !has(want, line) {
					if different++; different < 10 {
						t.Errorf("%s:%d, a match: %v\ngot  %v %q\ngrep %v %q", line.path, line.number, line.match, has(got, line), got[line], has(want, line), want[line])
					}
				}
			}
			compareCounts(t, grepPath, dir, ws, test.in, test.flags)
		})
	}
}

// sameText reports whether a line is shown as grep shows it, apart from truncation and invalid
// text.
func sameText(ours, theirs string) bool {
	if ours == theirs {
		return true
	}
	return strings.Contains(strings.ToValidUTF8(theirs, "\uFFFD"), strings.Trim(ours, "…"))
}

// compareCounts compares the numbers of matching lines per file, and thus the files with matches.
func compareCounts(t *testing.T, grepPath, dir string, ws workspace.Workspace, in grepInput, flags []string) {
	t.Helper()
	got, want := map[string]int{}, map[string]int{}
	for path, found := range searchAll(t, ws, in, search.Want{CountOnly: true}) {
		got[path] = found.Matches
	}
	for line := range strings.Lines(string(runGrep(t, grepPath, dir, in.Pattern, append([]string{"-c"}, withoutContext(flags)...)))) {
		path, count, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "./"), "\x00")
		if n, err := strconv.Atoi(count); err != nil {
			t.Fatal(err)
		} else if n > 0 {
			want[path] = n
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func withoutContext(flags []string) []string {
	return slices.DeleteFunc(slices.Clone(flags), func(flag string) bool { return flag[:2] == "-A" || flag[:2] == "-B" })
}

func has[K comparable, V any](m map[K]V, key K) bool {
	_, ok := m[key]
	return ok
}

// ours returns all lines that this plugin finds, without the tool's limits.
func ours(t *testing.T, ws workspace.Workspace, in grepInput) map[markedLine]string {
	t.Helper()
	lines := map[markedLine]string{}
	for path, found := range searchAll(t, ws, in, search.Want{Before: in.Before, After: in.After}) {
		for _, line := range found.Lines {
			lines[markedLine{path, line.Number, line.Match}] = line.Text
		}
	}
	return lines
}

// searchAll searches like the tool and returns everything that it finds.
func searchAll(t testing.TB, ws workspace.Workspace, in grepInput, want search.Want) map[string]search.Found {
	t.Helper()
	matcher, err := search.Compile(search.Pattern{Text: in.Pattern, Fixed: in.Fixed, IgnoreCase: in.IgnoreCase, Multiline: in.Multiline})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]search.Found{}
	s := &treeSearch{matcher: matcher, want: want, report: func(path string, found search.Found, err error) bool {
		if err != nil || found.TooLong {
			t.Errorf("%s: %v, too long: %v", path, err, found.TooLong)
		}
		if found.Matches > 0 {
			all[path] = found
		}
		return true
	}}
	if err := s.run(t.Context(), ws, &walk{start: ".", exclude: newPattern(in.Exclude)}, newPattern(in.Glob)); err != nil {
		t.Fatal(err)
	}
	return all
}

func runGrep(t testing.TB, grepPath, dir, pattern string, flags []string) []byte {
	t.Helper()
	// In the locale C, grep treats text as bytes. -I skips binary files.
	arguments := slices.Concat([]string{"-rIE", "--null"}, flags, []string{"-e", pattern, "."})
	if slices.Contains(flags, "-F") {
		arguments[0] = "-rI"
	}
	command := exec.CommandContext(t.Context(), grepPath, arguments...)
	command.Dir = dir
	command.Env = append(os.Environ(), "LC_ALL=C", "GREP_OPTIONS=")
	out, err := command.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == 1 {
		return nil // grep found nothing
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func theirs(t *testing.T, grepPath, dir, pattern string, flags []string) map[markedLine]string {
	t.Helper()
	form := regexp.MustCompile(`^\./([^\x00]+)\x00(\d+)([:-])(.*)$`)
	lines := map[markedLine]string{}
	for line := range bytes.Lines(runGrep(t, grepPath, dir, pattern, append([]string{"-n"}, flags...))) {
		parts := form.FindStringSubmatch(strings.TrimRight(string(line), "\r\n"))
		if parts == nil {
			continue // a separator
		}
		number, err := strconv.Atoi(parts[2])
		if err != nil {
			t.Fatal(err)
		}
		lines[markedLine{parts[1], number, parts[3] == ":"}] = parts[4]
	}
	return lines
}

// Compares with grep on the same files:
//
//	go test -run - -bench GrepBeside -benchtime 3x ./plugins/fs
//
// Each round runs one search by this plugin and one by grep, so that the machine's load affects
// both. ours and grep are medians in milliseconds, cpu is the ratio of processor times.
func BenchmarkGrepBeside(b *testing.B) {
	grepPath := grepPath(b)
	dir := goSays(b, "env", "GOMODCACHE")
	local, err := workspace.OpenLocal(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer local.Close()
	for _, test := range alike {
		if test.in.Before > 0 {
			continue
		}
		b.Run(test.name, func(b *testing.B) {
			var oursWall, oursCPU, grepWall, grepCPU []float64
			for b.Loop() {
				wall, self, children := time.Now(), cpuTime(b, syscall.RUSAGE_SELF), cpuTime(b, syscall.RUSAGE_CHILDREN)
				searchAll(b, local, test.in, search.Want{})
				oursWall = append(oursWall, time.Since(wall).Seconds())
				oursCPU = append(oursCPU, cpuTime(b, syscall.RUSAGE_SELF)-self)
				if grepPath == "" {
					continue
				}
				wall = time.Now()
				runGrep(b, grepPath, dir, test.in.Pattern, append([]string{"-n"}, test.flags...))
				grepWall = append(grepWall, time.Since(wall).Seconds())
				grepCPU = append(grepCPU, cpuTime(b, syscall.RUSAGE_CHILDREN)-children)
			}
			b.ReportMetric(0, "ns/op")
			for name, seconds := range map[string][]float64{"ours": oursWall, "ours-cpu": oursCPU, "grep": grepWall, "grep-cpu": grepCPU} {
				if len(seconds) > 0 {
					slices.Sort(seconds)
					b.ReportMetric(1000*seconds[len(seconds)/2], name+"-ms")
				}
			}
		})
	}
}

// cpuTime returns the processor time of this process, or of its ended children, in seconds.
func cpuTime(b *testing.B, who int) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(who, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
