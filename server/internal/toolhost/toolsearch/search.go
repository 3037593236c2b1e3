package toolsearch

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	// maxWords bounds the distinct words of a query that count, apart from function words. It
	// bounds a search among 10,000 tools to some tens of milliseconds. Questions of people have
	// fewer words.
	maxWords = 512
	// maxBytes bounds the part of a query that is read.
	maxBytes = 8 << 10
	// minPrefix is the number of characters that a word of the query needs to match longer words
	// that begin with it.
	minPrefix = 3
	// prefixCounts is the largest share of a longer word's score that a tool gets if the query has
	// only the beginning of that word.
	prefixCounts = .5
)

// Hit is a tool that was found.
type Hit struct {
	Tool  int     // the index of the tool in the list given to New
	Score float64 // greater is better; comparable only within one search
}

// Search returns the tools that contain a word of the query, or a word that begins with one. The
// best come first; equal scores are ordered by name. A tool whose name equals the query comes
// first. Function words such as "a" and "to" count only if the query has no others. Search returns
// at most limit tools; 0 means all. It returns only tools for which keep is true; a nil keep is
// true for all.
func (x *Index) Search(query string, keep func(tool int) bool, limit int) []Hit {
	asked := queryWords(query)
	if len(asked) == 0 || len(x.names) == 0 {
		return nil
	}
	sum := scores{total: make([]float64, len(x.names)), word: make([]float64, len(x.names))}
	for _, word := range asked {
		x.addExact(&sum, word)
		x.addLonger(&sum, word)
		sum.next()
	}
	for _, pair := range joined(asked) { // the question has "web hook" and the tool "webhook"
		x.addExact(&sum, pair)
		sum.next()
	}
	top := ranking{names: x.names, limit: limit}
	best, named := slices.Max(sum.total), strings.TrimSpace(fold(query))
	for i, score := range sum.total {
		if score > 0 && (keep == nil || keep(i)) {
			if x.folded[i] == named {
				score += best
			}
			top.add(Hit{Tool: i, Score: score})
		}
	}
	return top.sorted()
}

// queryWords returns the words of a query that are searched for, each once.
func queryWords(query string) []string {
	var all, content []string
	seen := map[string]bool{}
	for _, word := range words(query[:min(len(query), maxBytes)]) {
		if len(content) == maxWords {
			break
		}
		if seen[word] {
			continue
		}
		seen[word] = true
		all = append(all, word)
		if !isFunctionWord(word) {
			content = append(content, word)
		}
	}
	if len(content) == 0 {
		return all
	}
	return content
}

// addExact adds the tools that contain a word.
func (x *Index) addExact(sum *scores, word string) {
	if at, known := slices.BinarySearch(x.terms, stem(word)); known {
		for _, e := range x.postings[at] {
			sum.add(e.tool, float64(e.score))
		}
	}
}

// addLonger adds the tools that contain a longer word that begins with the given one. The longer
// word counts at most as much as the given word would, even if it is rarer.
func (x *Index) addLonger(sum *scores, word string) {
	if utf8.RuneCountInString(word) < minPrefix {
		return
	}
	rarity := 0.0 // of the given word
	if at, known := slices.BinarySearch(x.terms, stem(word)); known {
		rarity = x.rarity[at]
	}
	for at := sort.SearchStrings(x.terms, word); at < len(x.terms) && strings.HasPrefix(x.terms[at], word); at++ {
		counts := prefixCounts * float64(len(word)) / float64(len(x.terms[at]))
		if rarity > 0 && rarity < x.rarity[at] {
			counts *= rarity / x.rarity[at]
		}
		for _, e := range x.postings[at] {
			sum.add(e.tool, counts*float64(e.score))
		}
	}
}

// scores adds up the scores of tools, word by word.
type scores struct {
	total   []float64
	word    []float64 // by tool: the score of the current word, the largest of its forms
	touched []int32   // the tools that contain the current word
}

func (s *scores) add(tool int32, score float64) {
	if s.word[tool] == 0 {
		s.touched = append(s.touched, tool)
	}
	s.word[tool] = max(s.word[tool], score)
}

// next adds the scores of the current word to the totals and begins the next word.
func (s *scores) next() {
	for _, tool := range s.touched {
		s.total[tool] += s.word[tool]
		s.word[tool] = 0
	}
	s.touched = s.touched[:0]
}

// ranking keeps the best hits.
type ranking struct {
	names []string
	limit int   // 0: no limit
	hits  []Hit // in order if limit is not 0
}

func (r *ranking) add(hit Hit) {
	if r.limit == 0 {
		r.hits = append(r.hits, hit)
		return
	}
	full := len(r.hits) == r.limit
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
	if r.limit == 0 {
		slices.SortFunc(r.hits, r.compare)
	}
	return r.hits
}

func (r *ranking) compare(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(r.names[a.Tool], r.names[b.Tool]))
}
