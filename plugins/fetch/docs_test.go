package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/fetch.md names each variable, its example is valid, and it shows the right default.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../docs/fetch.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	example := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^ +(FETCH_\w+): (.+)$`).FindAllStringSubmatch(text, -1) {
		example[line[1]] = line[2]
	}
	for _, name := range []string{onlyVariable, allowVariable, proxyVariable, userAgentVariable} {
		if example[name] == "" || !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("%s is not in the example or not in the table", name)
		}
	}
	s, err := readSettings(func(name string) string { return example[name] })
	if err != nil || len(s.rules.Allow) != 2 || len(s.only) != 2 || s.proxy == nil || s.userAgent == "" {
		t.Errorf("the example is read as %+v, %v", s, err)
	}
	if !strings.Contains(text, "`"+defaultUserAgent+"`") {
		t.Errorf("the default of %s is not shown", userAgentVariable)
	}
}
