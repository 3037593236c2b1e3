package model

import (
	"net/http"
	"strings"
	"unicode"
)

// meaning is the reason of a refusal, as far as its words tell.
type meaning int

const (
	meansNothing   meaning = iota
	meansWait              // a rate, not a size or an account: the status decides
	meansOverflow          // Error.ContextOverflow
	meansSpent             // the account has no credit
	meansBusy              // Error.Busy
	meansImage             // Error.RefusedImage
	meansParameter         // Error.RefusesParameter
)

// longestWords limits what Understand reads of a refusal, in bytes. Some servers append the
// request.
const longestWords = 2000

// Understand derives what a refusal means from its words. Every provider calls it once for each
// error of its server, after it has set the fields that status, headers and codes tell. Words are
// stronger: many servers have no code for a reason, and some send it with a status of another kind.
func (e *Error) Understand(words string) {
	if len(words) > longestWords {
		words = words[:longestWords]
	}
	e.words = strings.ToLower(strings.Join(strings.Fields(words), " "))
	means := meaningOf(e.words)
	if e.Status == http.StatusRequestEntityTooLarge {
		means = meansOverflow
	}
	switch {
	case means == meansOverflow || e.ContextOverflow:
		e.ContextOverflow, e.Retryable, e.Unusable = true, false, false
	case means == meansSpent && e.RetryAfter == 0:
		e.Retryable, e.Unusable = false, true
	case means == meansBusy && !e.Unusable:
		e.Retryable = true
		e.Busy = !e.Overloaded()
	case means == meansImage:
		e.RefusedImage, e.Retryable = true, false
	}
}

// RefusesParameter reports whether the server refused the request because of a parameter, whose
// path has points between its names, such as "reasoning.summary". A server may name the parameter
// as a field of the error, alone or within a longer path, or only in words.
func (e *Error) RefusesParameter(path string) bool {
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, 0:
	default:
		return false
	}
	if e.ContextOverflow || e.RefusedImage {
		return false
	}
	path = plain(path)
	return named(plain(e.Parameter), path) || meaningOf(e.words) == meansParameter && named(plain(e.words), path)
}

// plain returns a text in which a name has one spelling: servers write stream_options and
// streamOptions.
func plain(text string) string { return strings.ReplaceAll(strings.ToLower(text), "_", "") }

// named reports whether a text has a name that is not a part of a longer name.
func named(text, name string) bool {
	for {
		before, after, found := strings.Cut(text, name)
		if !found {
			return false
		}
		if !strings.ContainsFunc(lastOf(before), isName) && !strings.ContainsFunc(firstOf(after), isName) {
			return true
		}
		text = after
	}
}

func isName(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func firstOf(s string) string { return s[:min(1, len(s))] }

func lastOf(s string) string { return s[max(0, len(s)-1):] }

// meaningOf returns the meaning of words in lower case.
func meaningOf(words string) meaning {
	for i := range wordings {
		if says(words, wordings[i].words) {
			return wordings[i].means
		}
	}
	return meansNothing
}

// says reports whether a text has the words of a row.
func says(text, words string) bool {
	for part := range strings.SplitSeq(words, "*") {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}
