package toolsearch

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	// maxWords is how many different telling words of a query count. It bounds the work of one search to some tens of
	// milliseconds among 10,000 tools; questions that people ask have fewer.
	maxWords = 512
	// maxBytes is how much of a query is read at all.
	maxBytes = 8 << 10
	// leastPrefix is how many characters a word must have to stand for longer ones.
	leastPrefix = 3
	// prefixCounts is how much of a longer word's worth a word has that is its beginning, at most.
	prefixCounts = .5
)

// Hit is a tool that was found.
type Hit struct {
	Tool  int     // its place in what the index was made of
	Score float64 // greater is better; comparable only within one answer
}

// Search returns the tools that hold a word of the query, or one that begins so, the best first and equals by name. Words
// such as "a" and "to" count if there are no others. keep says of a tool, by its place, whether it may be found; nil: of
// each. At most so many are returned; 0: all. A tool whose name is the query comes first.
func (x *Index) Search(query string, keep func(tool int) bool, most int) []Hit {
	asked := wanted(query)
	if len(asked) == 0 || len(x.names) == 0 {
		return nil
	}
	sum := scores{total: make([]float64, len(x.names)), word: make([]float64, len(x.names))}
	for _, word := range asked {
		x.exact(&sum, word)
		x.longer(&sum, word)
		sum.next()
	}
	for _, pair := range joined(asked) { // that people write apart and authors together
		x.exact(&sum, pair)
		sum.next()
	}
	top := ranking{names: x.names, most: most}
	best, named := slices.Max(sum.total), strings.TrimSpace(fold(query))
	for i, score := range sum.total {
		if score > 0 && (keep == nil || keep(i)) {
			if x.whole[i] == named {
				score += best
			}
			top.add(Hit{Tool: i, Score: score})
		}
	}
	return top.sorted()
}

// wanted returns the words of a query that count, each once.
func wanted(query string) []string {
	var all, telling []string
	seen := map[string]bool{}
	for _, word := range words(query[:min(len(query), maxBytes)]) {
		if len(telling) == maxWords {
			break
		}
		if seen[word] {
			continue
		}
		seen[word] = true
		all = append(all, word)
		if !idle(word) {
			telling = append(telling, word)
		}
	}
	if len(telling) == 0 {
		return all
	}
	return telling
}

// exact counts the tools that hold a word.
func (x *Index) exact(sum *scores, word string) {
	if at, known := slices.BinarySearch(x.terms, stem(word)); known {
		for _, e := range x.postings[at] {
			sum.count(e.tool, float64(e.score))
		}
	}
}

// longer counts the tools that hold a word which begins like the one that is asked for. However rare that is, it is
// worth no more than the word itself.
func (x *Index) longer(sum *scores, word string) {
	if utf8.RuneCountInString(word) < leastPrefix {
		return
	}
	rarity := 0.0 // of the word itself
	if at, known := slices.BinarySearch(x.terms, stem(word)); known {
		rarity = x.rarity[at]
	}
	for at := sort.SearchStrings(x.terms, word); at < len(x.terms) && strings.HasPrefix(x.terms[at], word); at++ {
		counts := prefixCounts * float64(len(word)) / float64(len(x.terms[at]))
		if rarity > 0 && rarity < x.rarity[at] {
			counts *= rarity / x.rarity[at]
		}
		for _, e := range x.postings[at] {
			sum.count(e.tool, counts*float64(e.score))
		}
	}
}

// scores adds up what tools are worth, word by word.
type scores struct {
	total   []float64
	word    []float64 // what the word at hand is worth: the most of all of its forms
	touched []int32   // tools that hold the word at hand
}

func (s *scores) count(tool int32, score float64) {
	if s.word[tool] == 0 {
		s.touched = append(s.touched, tool)
	}
	s.word[tool] = max(s.word[tool], score)
}

// next ends a word.
func (s *scores) next() {
	for _, tool := range s.touched {
		s.total[tool] += s.word[tool]
		s.word[tool] = 0
	}
	s.touched = s.touched[:0]
}

// ranking keeps the best hits in order.
type ranking struct {
	names []string
	most  int   // 0: all
	hits  []Hit // in order if most is not 0
}

func (r *ranking) add(hit Hit) {
	if r.most == 0 {
		r.hits = append(r.hits, hit)
		return
	}
	full := len(r.hits) == r.most
	if full && r.compare(hit, r.hits[len(r.hits)-1]) > 0 {
		return
	}
	if full {
		r.hits = r.hits[:len(r.hits)-1]
	}
	at, _ := slices.BinarySearchFunc(r.hits, hit, r.compare)
	r.hits = slices.Insert(r.hits, at, hit)
}

func (r *ranking) sorted() []Hit {
	if r.most == 0 {
		slices.SortFunc(r.hits, r.compare)
	}
	return r.hits
}

func (r *ranking) compare(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(r.names[a.Tool], r.names[b.Tool]))
}
