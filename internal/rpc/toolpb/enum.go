package toolpb

// words maps the words of package tool to the values of a proto enum and back. It is not changed once made.
type words[W ~string, E ~int32] struct {
	byWord  map[W]E
	byValue map[E]W
}

func pairs[W ~string, E ~int32](byWord map[W]E) words[W, E] {
	byValue := make(map[E]W, len(byWord))
	for w, e := range byWord {
		byValue[e] = w
	}
	return words[W, E]{byWord: byWord, byValue: byValue}
}

// from returns 0, "unspecified" in every enum, for a word that is not known.
func (p words[W, E]) from(w W) E { return p.byWord[w] }

// to returns unknown for a value that has no word.
func (p words[W, E]) to(e E, unknown W) W {
	if w, ok := p.byValue[e]; ok {
		return w
	}
	return unknown
}
