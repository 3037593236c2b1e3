package authors

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// most is how many commands it may take from nothing to a tool that a model uses.
const most = 5

// TestFromNothing takes the way of an author, in each language.
func TestFromNothing(t *testing.T) {
	bin := buildPrograms(t)
	for _, language := range []struct {
		name string
		sdk  func(t *testing.T) string // where the SDK is; skips the test where the machine lacks the language
	}{
		{"go", goSDK},
		{"python", pythonSDK},
		{"typescript", typescriptSDK},
	} {
		t.Run(language.name, func(t *testing.T) {
			find(t, "make")
			sdk := language.sdk(t)
			t.Parallel()
			a := newAuthor(t, bin, sdk)
			text, words := saying(t)
			a.write(t, "model.yaml", model)
			arguments, err := json.Marshal(map[string]any{"text": text, "longest": 0})
			if err != nil {
				t.Fatal(err)
			}
			commands := 0
			types := func(line string) string {
				commands++
				return a.types(t, line)
			}

			types("toolhost new weather --lang " + language.name)
			types("make -C weather test install")
			commands++
			stop := a.serves(t, "toolhost serve")
			got := types("toolhost call weather_count_words '" + string(arguments) + "'")
			if want := fmt.Sprintf(`{"words":%d,"longest":[]}`, words); strings.TrimSpace(got) != want {
				t.Errorf("the call answers %q, want %s", got, want)
			}
			got = types("agentd run --model scripted:model.yaml '" + text + "'")
			if want := fmt.Sprintf(`I counted: {"words":%d,"longest":["unmistakable"]}`, words); !strings.Contains(got, want) {
				t.Errorf("the run says %q, want %s in it", got, want)
			}

			if language.name == "python" {
				a.keepsBytecode(t)
			}
			if commands > most {
				t.Errorf("it took %d commands; want at most %d", commands, most)
			}
			a.leaves(t)
			stop()
		})
	}
}

// keepsBytecode sees that the plugin's later processes start with what the one compiled that was asked what it is.
func (a *author) keepsBytecode(t *testing.T) {
	t.Helper()
	caches, err := filepath.Glob(filepath.Join(a.home, "state", "toolhost", "store", "*", "cache", "python"))
	if err != nil || len(caches) != 1 {
		t.Fatalf("what was compiled is kept in %q, %v; want one folder", caches, err)
	}
	compiled := 0
	err = filepath.WalkDir(caches[0], func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".pyc") {
			compiled++
		}
		return err
	})
	if err != nil || compiled < 50 {
		t.Errorf("%d compiled sources are kept, %v; want those of the SDK and its libraries", compiled, err)
	}
}

// model stands for a model that uses the tool. It cannot count: its answer is what the tool says.
const model = `turns:
  - calls: [{id: count, tool: weather_count_words, arguments: {text: "{{prompt}}", longest: 1}}]
  - text: 'I counted: {{result "count"}}'
`

// saying returns a text, and how many words it has, which nobody can guess.
func saying(t *testing.T) (text string, words int) {
	t.Helper()
	words = 100 + rand.IntN(400)
	all := []string{"unmistakable"}
	for len(all) < words {
		all = append(all, fmt.Sprintf("w%d", rand.IntN(1_000_000)))
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return strings.Join(all, ", "), words
}

// leaves takes the plugin out again, and sees that it is gone.
func (a *author) leaves(t *testing.T) {
	t.Helper()
	a.types(t, "toolhost uninstall weather")
	out, err := a.command(t, "toolhost call weather_count_words '{}'").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not_found") {
		t.Errorf("a tool that was uninstalled answers %v, %s", err, out)
	}
	if entries, err := os.ReadDir(filepath.Join(a.home, "data", "toolhost", "plugins")); err != nil || len(entries) > 0 {
		t.Errorf("the folder of plugins holds %v, %v; want nothing", entries, err)
	}
}
