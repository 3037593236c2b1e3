package terminal

import "strings"

// complete adds to the text what all words of the question have that begin with it, and shows them
// if there are several. It reports false if none does.
func (e *editor) complete() bool {
	text := e.text()
	var found []string
	for _, word := range e.asked.Words {
		if text != "" && strings.HasPrefix(word, text) {
			found = append(found, word)
		}
	}
	if len(found) == 0 {
		return false
	}
	whole := found[0]
	for _, word := range found[1:] {
		for !strings.HasPrefix(word, whole) {
			whole = whole[:len(whole)-1]
		}
	}
	if len(found) == 1 {
		whole += " "
	} else if whole == text {
		e.note = strings.Join(found, "  ")
	}
	e.set(whole)
	return true
}
