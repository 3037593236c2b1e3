//go:build !race

package toolsearch_test

import (
	"cmp"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/toolsearch"
	"github.com/toolhost/toolhost/tool"
)

// parameterNeedles returns the tools and questions of testdata/questions.txt. A question describes
// a tool by its parameters and their values rather than by its name.
func parameterNeedles(t *testing.T) []needle {
	t.Helper()
	data, err := os.ReadFile("testdata/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []needle
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(strings.TrimSpace(line), " | ")
		if len(parts) != 4 {
			t.Fatalf("the line %q does not have four parts", line)
		}
		properties := map[string]any{}
		for parameter := range strings.SplitSeq(parts[2], "; ") {
			name, text, _ := strings.Cut(parameter, ": ")
			properties[name] = map[string]string{"type": "string", "description": text}
		}
		schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
		if err != nil {
			t.Fatal(err)
		}
		spec := tool.Spec{Name: parts[0], Description: parts[1], InputSchema: schema}
		all = append(all, needle{tool.Info{Plugin: "needles", Spec: spec}, parts[3]})
	}
	return all
}

// plainBM25 ranks tools by Okapi BM25 (k1 1.2, b 0.75) over one text: name, description and
// parameters, stemmed.
type plainBM25 struct {
	names   []string
	terms   []map[string]float64 // how often each term occurs in each tool
	lengths []float64
	average float64
	holders map[string]float64 // the number of tools that hold each term
}

func newPlainBM25(infos []tool.Info) *plainBM25 {
	x := &plainBM25{holders: map[string]float64{}}
	for i := range infos {
		counts, length := map[string]float64{}, 0.0
		for _, term := range toolsearch.Terms(&infos[i]) {
			counts[term]++
			length++
		}
		for term := range counts {
			x.holders[term]++
		}
		x.names, x.terms, x.lengths = append(x.names, infos[i].Spec.Name), append(x.terms, counts), append(x.lengths, length)
		x.average += length / float64(len(infos))
	}
	return x
}

// search returns the names of the ten best tools.
func (x *plainBM25) search(query string) []string {
	scores := make([]float64, len(x.names))
	for _, term := range toolsearch.QueryTerms(query) {
		rarity := math.Log(1 + (float64(len(x.names))-x.holders[term]+.5)/(x.holders[term]+.5))
		for i, counts := range x.terms {
			if n := counts[term]; n > 0 {
				scores[i] += rarity * n * 2.2 / (n + 1.2*(.25+.75*x.lengths[i]/x.average))
			}
		}
	}
	order := make([]int, len(x.names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(x.names[a], x.names[b]))
	})
	var best []string
	for _, i := range order[:min(10, len(order))] {
		best = append(best, x.names[i])
	}
	return best
}

// recall is the share of questions whose tool is among the first 1, 5 and 10 results, in percent.
type recall [3]float64

func recallOf(all []needle, search func(query string) []string) recall {
	var r recall
	for _, n := range all {
		rank := slices.Index(search(n.query), n.tool.Spec.Name)
		for i, most := range [...]int{1, 5, 10} {
			if rank >= 0 && rank < most {
				r[i] += 100 / float64(len(all))
			}
		}
	}
	return r
}

// TestRecallBeatsPlainBM25 compares the ranking with a plain BM25 over the same words. Both search
// among the needles, and among the needles and 1,000 other tools.
func TestRecallBeatsPlainBM25(t *testing.T) {
	described := parameterNeedles(t)
	long := slices.Clone(described)
	for i := range long {
		long[i].query = preamble + long[i].query
	}
	for name, questions := range map[string][]needle{"by purpose": needles(), "by parameters": described, "long": long} {
		for _, others := range []int{0, 1000} {
			infos := hay(others)
			for _, n := range slices.Concat(needles(), described) {
				infos = append(infos, n.tool)
			}
			x := toolsearch.New(infos)
			ours := recallOf(questions, func(query string) []string {
				var names []string
				for _, hit := range x.Search(query, nil, 10) {
					names = append(names, infos[hit.Tool].Spec.Name)
				}
				return names
			})
			plain := recallOf(questions, newPlainBM25(infos).search)
			t.Logf("%s, %d other tools: recall at 1, 5 and 10 is %.1f, plain BM25 %.1f", name, others, ours, plain)
			for i := range ours {
				if ours[i] < plain[i] {
					t.Errorf("%s, %d other tools: recall %.1f, plain BM25 %.1f", name, others, ours, plain)
					break
				}
			}
		}
	}
}

// preamble is what people write before the question. Few of its words tell one tool from another.
const preamble = `Hello, I hope that you are well. I have had a long day and would be grateful for your help, because my colleague, who
usually does this for me, is away until next week and nobody else in our office knows how it works. I have tried to find the answer
on the internet for almost an hour, and every page that I opened said something different, so that I am now more confused than
before. Please take your time, think about it step by step, and do not guess: if something is not clear, ask me first. Here is what
I would like to know. `
