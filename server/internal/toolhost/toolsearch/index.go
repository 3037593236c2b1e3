// Package toolsearch finds tools by words, in catalogs that are too large to show to a model as a
// whole.
//
// It owns the splitting of text into words, the weight of each field of a tool, and the order of
// the results. It does not know where tools come from. The caller decides for each tool whether a
// search may return it.
//
// The ranking is Okapi BM25: a word counts more the rarer it is in the catalog, and more in a short
// tool description than in a long one. The search needs no model and no network. Equal catalogs and
// queries give equal results.
package toolsearch

import (
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// field is a part of a tool's declaration.
type field int

// The fields, in the order of their weights.
const (
	inName field = iota
	inDisplayName
	inTags
	inCategory
	inPlugin
	inDescription
	inParameters
	inParameterTexts
	numFields
)

// weights hold the weight of one occurrence of a word in each field.
//
// The weights are close to each other. People describe a tool by its parameters as often as by its
// name, and a question contains many words that occur in the name of some other tool. With a large
// weight of the name, those words outweigh all others: a weight of 8 for names and 1.2 for
// parameters halved the recall on long questions. The small differences order tools that match
// equally well.
var weights = [numFields]float64{
	inName: 1.15, inDisplayName: 1.12, inTags: 1.1, inCategory: 1.08, inPlugin: 1.06, inDescription: 1.05, inParameters: 1.02, inParameterTexts: 1,
}

const (
	// saturation is the weighted number of occurrences for which a word counts half of its maximum.
	// It keeps a tool from gaining much by repeating a word.
	saturation = 3
	// lengthMatters is how much the length of a tool's text reduces the value of each word in it,
	// from 0 to 1. With 1, a word in a text of twice the average length counts as half an
	// occurrence.
	lengthMatters = .6
)

// Index holds the words of a list of tools. It is immutable and safe for concurrent use. The zero
// value finds nothing.
type Index struct {
	names    []string  // of the tools, in the order given to New
	folded   []string  // the names, folded
	terms    []string  // the stems of all words, sorted
	postings [][]entry // by term
	rarity   []float64 // by term: the logarithm of how rare the term is
}

// entry is the score that a term contributes to a tool: the rarity of the term times its weight in
// the tool.
type entry struct {
	tool  int32
	score float32
}

// New returns an index of tools. It takes about 50 µs for each tool. The names must differ.
func New(infos []tool.Info) *Index {
	b := &builder{ids: map[string]int32{}}
	for i := range infos {
		b.add(&infos[i])
		runtime.Gosched() // on one processor, calls would wait for all of them
	}
	return b.index()
}

// builder counts the words of tools.
type builder struct {
	ids     map[string]int32 // of terms, in the order in which they occurred first
	names   []string
	tools   [][]count // by tool
	lengths []float64 // by tool: the weighted number of words
	total   float64   // the sum of lengths
}

// count is the weighted number of occurrences of a term in a tool.
type count struct {
	term   int32
	weight float64
	name   float64 // the part of weight of the tool's name
}

func (b *builder) add(info *tool.Info) {
	counts, length := []count{}, 0.0
	positions := map[int32]int{} // of terms in counts
	add := func(f field, all []string) {
		for _, word := range all {
			term := stem(word)
			id, known := b.ids[term]
			if !known {
				id = int32(len(b.ids))
				b.ids[term] = id
			}
			i, seen := positions[id]
			if !seen {
				i = len(counts)
				positions[id], counts = i, append(counts, count{term: id})
			}
			counts[i].weight += weights[f]
			if f == inName {
				counts[i].name += weights[f]
			}
		}
	}
	for f, text := range textsOf(info) {
		all := words(text)
		add(field(f), all)
		length += weights[f] * float64(len(all))
	}
	// The pairs do not add to the length: a search for githubissue must find github_issue without
	// ranking it below issue_list.
	add(inName, joined(words(info.Spec.Name)))
	b.names = append(b.names, info.Spec.Name)
	b.tools = append(b.tools, counts)
	b.lengths = append(b.lengths, length)
	b.total += length
}

// joined returns each two adjacent words as one word, because people write both "web hook" and
// "webhook".
func joined(all []string) []string {
	var pairs []string
	for i := range len(all) - 1 {
		pairs = append(pairs, all[i]+all[i+1])
	}
	return pairs
}

func (b *builder) index() *Index {
	x := &Index{names: b.names, terms: make([]string, 0, len(b.ids))}
	for _, name := range b.names {
		x.folded = append(x.folded, fold(name))
	}
	for term := range b.ids {
		x.terms = append(x.terms, term)
	}
	slices.Sort(x.terms)
	positions := make([]int, len(b.ids)) // in x.terms, by id
	for i, term := range x.terms {
		positions[b.ids[term]] = i
	}
	x.postings = make([][]entry, len(x.terms))
	for i, counts := range b.tools {
		for _, c := range counts {
			at := positions[c.term]
			x.postings[at] = append(x.postings[at], entry{tool: int32(i), score: float32(b.value(i, c))})
		}
	}
	x.rarity = make([]float64, len(x.terms))
	for i, postings := range x.postings {
		holders, all := float64(len(postings)), float64(len(b.names))
		x.rarity[i] = math.Log(1 + (all-holders+.5)/(holders+.5))
		for j := range postings {
			postings[j].score *= float32(x.rarity[i])
		}
	}
	return x
}

// value returns the contribution of a term to the score of the i-th tool, from 0 to 1. A long text
// reduces the value of its own words, but not that of the words in the name: a long description, or
// one in a script without spaces, which has a pair for each character, would hide the tool from its
// name.
func (b *builder) value(i int, c count) float64 {
	average := max(1, b.total/float64(len(b.names)))
	reduced := func(length float64) float64 { return 1 - lengthMatters + lengthMatters*length/average }
	weight := (c.weight-c.name)/reduced(b.lengths[i]) + c.name/reduced(min(b.lengths[i], average))
	return weight / (weight + saturation)
}

// textsOf returns the text of each field.
func textsOf(info *tool.Info) [numFields]string {
	spec := &info.Spec
	names, texts := parametersOf(spec.InputSchema)
	return [numFields]string{
		inName: spec.Name, inDisplayName: spec.DisplayName, inTags: strings.Join(spec.Tags, " "), inCategory: spec.Category,
		inPlugin: info.Plugin, inDescription: spec.Description,
		inParameters: strings.Join(names, " "), inParameterTexts: strings.Join(texts, " "),
	}
}
