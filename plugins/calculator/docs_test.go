package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The examples in docs/calculator.md work, and the functions that it names exist.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/calculator.md")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(string(text), -1) {
		for _, word := range strings.Fields(code[1]) {
			if !regexp.MustCompile(`[0-9(]`).MatchString(word) || strings.ContainsAny(word, "x,") && !strings.HasPrefix(word, "0x") {
				continue
			}
			tried++
			if _, err := calculate(t.Context(), input{Expression: word}); err != nil && !strings.HasPrefix(word, "log") && !strings.HasPrefix(word, "atan2") {
				t.Errorf("%s: %v", word, err)
			}
		}
	}
	_, functions, _ := strings.Cut(string(text), "| functions | `")
	functions, _, _ = strings.Cut(functions, "`")
	for name := range strings.FieldsSeq(functions) {
		_, err := calculate(t.Context(), input{Expression: name + "()"})
		if err == nil || strings.Contains(err.Error(), "is unknown") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if tried < 10 {
		t.Errorf("only %d expressions were found", tried)
	}
}
