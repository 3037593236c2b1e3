package commands

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata/transcripts")

// unstable lists output that differs between runs.
var unstable = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\brun-[a-z2-7]{16}\b`), "RUN"},
	{regexp.MustCompile(`\((\d+m)?[0-9.]+m?s\)`), "(TIME)"},
	{regexp.MustCompile(`(?m)^(took +)[0-9.a-z]+$`), "${1}TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?`), "DATE"},
	{regexp.MustCompile(`"(time|expire_time)":"[^"]*"`), `"$1":"TIME"`},
	{regexp.MustCompile(`"duration_ms":\d+`), `"duration_ms":0`},
}

// TestTranscripts runs the commands in testdata/transcripts and compares their output. Run the test
// with -update to write the present output.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			w := newWorld(t).withToolhost()
			bin := filepath.Join(w.folder, "bin")
			if err := errors.Join(os.Mkdir(bin, 0o700), os.Symlink(self, filepath.Join(bin, program))); err != nil {
				t.Fatal(err)
			}
			testscript.Run(t, testscript.Params{
				Files: []string{file}, UpdateScripts: *update, RequireExplicitExec: true,
				Setup: func(env *testscript.Env) error {
					env.Setenv("PATH", bin)
					env.Setenv("USER", "ann")
					env.Setenv(raceEnv, atOnce)
					for name, value := range w.env {
						env.Setenv(name, value)
					}
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"tidy": tidy, "await": await, "keep": keep},
			})
		})
	}
}

// tidy replaces the file stdout by both outputs of the last command, without what differs between
// runs.
func tidy(ts *testscript.TestScript, _ bool, _ []string) {
	text := ts.ReadFile("stdout")
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		text += "! " + line
	}
	for _, u := range unstable {
		text = u.pattern.ReplaceAllString(text, u.instead)
	}
	_, err := io.WriteString(ts.Stdout(), text)
	ts.Check(err)
}

// await WORDS COMMAND… runs a command until its output has the words.
func await(ts *testscript.TestScript, _ bool, args []string) {
	for {
		err := ts.Exec(args[1], args[2:]...)
		if strings.Contains(ts.ReadFile("stdout")+ts.ReadFile("stderr"), args[0]) {
			return
		}
		if err != nil {
			ts.Logf("%v", err)
		}
	}
}

// keep VARIABLE PATTERN sets a variable to the match of a pattern in the last output.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(args[1]).FindString(ts.ReadFile("stdout"))
	if found == "" {
		ts.Fatalf("%s: nothing", fmt.Sprint(args))
	}
	ts.Setenv(args[0], found)
}
