// Package toolsearch finds tools by words, for catalogues that are too large to be shown to a model whole.
//
// It owns what a word is, which words of a tool count how much, and the order of what is found. It does not know where
// tools come from, and which of them a caller may see is the caller's to say, tool by tool.
//
// The ranking is Okapi BM25 over weighted fields: a word counts the more the rarer it is in the catalogue, in a name more
// than in a description, and in a short text more than in a long one. It needs no model and no network, and equal
// catalogues and queries give equal answers.
package toolsearch

import (
	"math"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/tool"
)

// field is a part of what a tool says of itself.
type field int

// The fields, from what says most of what a tool is for to what says least.
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

// weights say how much a word counts in each field.
var weights = [numFields]float64{
	inName: 8, inDisplayName: 5, inTags: 4, inCategory: 3, inPlugin: 3, inDescription: 2.5, inParameters: 1.2, inParameterTexts: .6,
}

const (
	// saturation is by how much weight a word counts half of what it can: a name's and a description's together, so that
	// a word that is said again and again gains little.
	saturation = 10
	// lengthMatters is how much a field that is twice as long as the average is worth less, from 0, not at all, to 1, half.
	lengthMatters = .6
)

// Index is what is known of the words of tools. It does not change, and is safe for concurrent use. The zero value finds
// nothing.
type Index struct {
	names    []string  // of the tools, in the order given
	whole    []string  // folded names
	terms    []string  // stems of words, sorted
	postings [][]entry // by term
	rarity   []float64 // by term
}

// entry says what a term is worth in a tool: its rarity and its weights, in one number.
type entry struct {
	tool  int32
	score float32
}

// New returns an index of tools. It takes about 50 µs for a tool. Names must differ.
func New(infos []tool.Info) *Index {
	b := newBuilder()
	for i := range infos {
		b.add(&infos[i])
	}
	return b.index()
}

// builder counts words.
type builder struct {
	ids     map[string]int32 // of terms, by the order in which they came
	names   []string
	tools   [][]count // by tool
	lengths [][numFields]int
	total   [numFields]int
}

// count is how often a term is in the fields of a tool.
type count struct {
	term int32
	in   [numFields]uint16
}

func newBuilder() *builder { return &builder{ids: map[string]int32{}} }

func (b *builder) add(info *tool.Info) {
	counts, lengths := []count{}, [numFields]int{}
	at := map[int32]int{}
	say := func(f field, all []string) {
		for _, word := range all {
			term := stem(word)
			id, known := b.ids[term]
			if !known {
				id = int32(len(b.ids))
				b.ids[term] = id
			}
			i, seen := at[id]
			if !seen {
				i = len(counts)
				at[id], counts = i, append(counts, count{term: id})
			}
			if counts[i].in[f] < math.MaxUint16 {
				counts[i].in[f]++
			}
		}
	}
	for f, text := range textsOf(info) {
		all := words(text)
		say(field(f), all)
		lengths[f] = len(all)
		b.total[f] += len(all)
	}
	// Not part of the name's length: github_issue is no longer than issue_list because it can be found by githubissue.
	say(inName, joined(words(info.Spec.Name)))
	b.names = append(b.names, info.Spec.Name)
	b.tools = append(b.tools, counts)
	b.lengths = append(b.lengths, lengths)
}

// joined returns each two words that follow each other as one: people write web hook and webhook.
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
		x.whole = append(x.whole, fold(name))
	}
	for term := range b.ids {
		x.terms = append(x.terms, term)
	}
	slices.Sort(x.terms)
	place := make([]int, len(b.ids))
	for i, term := range x.terms {
		place[b.ids[term]] = i
	}
	x.postings = make([][]entry, len(x.terms))
	for i, counts := range b.tools {
		for _, c := range counts {
			at := place[c.term]
			x.postings[at] = append(x.postings[at], entry{tool: int32(i), score: float32(b.weigh(i, c))})
		}
	}
	x.rarity = make([]float64, len(x.terms))
	for i, postings := range x.postings {
		has, all := float64(len(postings)), float64(len(b.names))
		x.rarity[i] = math.Log(1 + (all-has+.5)/(has+.5))
		for j := range postings {
			postings[j].score *= float32(x.rarity[i])
		}
	}
	return x
}

// weigh returns what a term is worth in a tool, from 0 to 1.
func (b *builder) weigh(i int, c count) float64 {
	var sum float64
	for f, times := range c.in {
		if times == 0 {
			continue
		}
		average := max(1, float64(b.total[f])/float64(len(b.names)))
		sum += weights[f] * float64(times) / (1 - lengthMatters + lengthMatters*float64(b.lengths[i][f])/average)
	}
	return sum / (sum + saturation)
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
