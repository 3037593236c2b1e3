package docs

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// most is how many commands it may take from nothing to a tool that a model uses.
const most = 5

// fromNothing takes the way of an author who has a packed SDK and a page that tells how to write a tool in a language: from an
// empty folder to a call, on to a model that uses the tool, and back.
func fromNothing(t *testing.T, p page, language string) {
	r := newReader(t, "work", p.language())
	r.env = append(r.env, "TOOLHOST_SDK="+packedSDK(t, language))
	r.then = func() {
		r.usedByAModel(t, p)
		if count := commandsToTheFirstCall(p) + 1; count > most {
			t.Errorf("%s: it takes %d commands until a model uses the tool, want at most %d", p.name, count, most)
		}
		if language == "python" {
			r.keepsBytecode(t)
		}
	}
	r.follow(t, p)
	if r.then != nil {
		t.Errorf("%s shows no output of a call", p.name)
	}
	gone := r.script(t, p, block{language: "sh", words: []string{"exit=3"}, text: "toolhost call counter_count_words '{}'\n"})
	if !strings.Contains(gone, "not_found") {
		t.Errorf("a tool that was uninstalled answers %s", gone)
	}
}

// commandsToTheFirstCall returns how many commands a page has before the first output that it shows.
func commandsToTheFirstCall(p page) int {
	end := slices.IndexFunc(p.blocks, func(b block) bool { return b.language == "output" })
	return commands(page{blocks: p.blocks[:end]})
}

// model stands for a model that uses the tool. It cannot count: its answer is what the tool says.
const model = `turns:
  - calls: [{id: count, tool: counter_count_words, arguments: {text: "{{prompt}}", longest: 1}}]
  - text: 'I counted: {{result "count"}}'
`

// usedByAModel lets an agent's model use the tool, on words that nobody can guess.
func (r *reader) usedByAModel(t *testing.T, p page) {
	t.Helper()
	text, words := saying()
	r.write(t, filepath.Join(r.dir, "model.yaml"), model)
	said := r.script(t, p, block{language: "sh", text: "agentd run --model scripted:model.yaml '" + text + "'\n"})
	if want := fmt.Sprintf(`I counted: {"words":%d,"longest":["unmistakable"]}`, words); !strings.Contains(said, want) {
		t.Errorf("the run says %q, want %s in it", said, want)
	}
}

// saying returns a text, and how many words it has, which nobody can guess.
func saying() (text string, words int) {
	words = 100 + rand.IntN(400)
	all := []string{"unmistakable"}
	for len(all) < words {
		all = append(all, fmt.Sprintf("w%d", rand.IntN(1_000_000)))
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return strings.Join(all, ", "), words
}

// keepsBytecode sees that the plugin's later processes start with what the one compiled that was asked what it is.
func (r *reader) keepsBytecode(t *testing.T) {
	t.Helper()
	caches, err := filepath.Glob(filepath.Join(r.home, ".local", "state", "toolhost", "store", "*", "cache", "python"))
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
