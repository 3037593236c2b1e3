package toolsearch

import (
	"slices"

	"github.com/toolhost/toolhost/tool"
)

// Terms returns the stemmed words of a tool's name, description and parameters.
func Terms(info *tool.Info) []string {
	texts := textsOf(info)
	var terms []string
	for _, f := range []field{inName, inDescription, inParameters, inParameterTexts} {
		terms = append(terms, stems(words(texts[f]))...)
	}
	return terms
}

// QueryTerms returns the stemmed words of a query, each once.
func QueryTerms(query string) []string {
	terms := stems(words(query))
	slices.Sort(terms)
	return slices.Compact(terms)
}

func stems(all []string) []string {
	var terms []string
	for _, word := range all {
		terms = append(terms, stem(word))
	}
	return terms
}
