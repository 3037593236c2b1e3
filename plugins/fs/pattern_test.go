package main

import (
	"slices"
	"strings"
	"testing"
)

// Routers name folders and files with brackets. A pattern with such a name finds it, and also what
// the brackets mean in a glob.
func TestNamesWithBracketsAreFound(t *testing.T) {
	names := []string{
		"app/[slug]/page.tsx", "app/s/page.tsx", "app/[[...all]]/page.tsx", "app/x/[slug]/page.ts", "app/{id}/a,b.tsx", "app/id/page.tsx",
		"b/[a]", "b/a", "b/{x,y}.md",
	}
	contents := map[string]string{}
	for _, name := range names {
		contents[name] = "needle\n"
	}
	for _, test := range []struct {
		source, pattern, want string
	}{
		{"google-gemini/gemini-cli#8596", "app/[slug]/page.tsx", "app/[slug]/page.tsx app/s/page.tsx"},
		{"antinomyhq/forgecode#2917", "app/[slug]/*.tsx", "app/[slug]/page.tsx app/s/page.tsx"},
		{"", "app/**/[slug]/page.{ts,tsx}", "app/[slug]/page.tsx app/s/page.tsx app/x/[slug]/page.ts"},
		{"", "app/[[...all]]/page.tsx", "app/[[...all]]/page.tsx"},
		{"", "app/{id}/*", "app/id/page.tsx app/{id}/a,b.tsx"},
		{"", `app/\[slug\]/page.tsx`, "app/[slug]/page.tsx"},
		{"", "b/[a]", "b/[a] b/a"},
		{"", "b/{x,y}.md", "b/{x,y}.md"},
	} {
		ws := inMemory(contents)
		got, err := globFiles(t.Context(), ws, globInput{Pattern: test.pattern, Sort: "name"})
		if fields := strings.Fields(got); err != nil || strings.Join(fields, " ") != test.want {
			t.Errorf("%s: glob %s: got %q, %v", test.source, test.pattern, got, err)
		}
		got, err = grep(t.Context(), ws, grepInput{Pattern: "needle", Glob: test.pattern, Output: showFiles})
		if fields := strings.Fields(got); err != nil || strings.Join(fields, " ") != test.want {
			t.Errorf("%s: grep %s: got %q, %v", test.source, test.pattern, got, err)
		}
		got, err = grep(t.Context(), ws, grepInput{Pattern: "needle", Exclude: test.pattern, Output: showFiles})
		kept := slices.DeleteFunc(slices.Sorted(slices.Values(names)), func(name string) bool { return slices.Contains(strings.Fields(test.want), name) })
		if fields := strings.Fields(got); err != nil || !slices.Equal(slices.Sorted(slices.Values(fields)), kept) {
			t.Errorf("%s: grep without %s: got %q, %v", test.source, test.pattern, got, err)
		}
	}
}

// Where a pattern with brackets matches nothing, the answer says how they were read.
func TestBracketsAreExplained(t *testing.T) {
	const how = `; its brackets were read as a choice of characters and as themselves; with a backslash they are only themselves: app/\[slug\]/*.go]`
	ws := inMemory(map[string]string{"app/x/page.tsx": "needle\n"})
	if got, err := globFiles(t.Context(), ws, globInput{Pattern: "app/[slug]/*.go"}); err != nil || !strings.Contains(got, how) {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := grep(t.Context(), ws, grepInput{Pattern: "needle", Glob: "app/[slug]/*.go"}); err != nil || !strings.Contains(got, "[no match in 0 files"+how) {
		t.Errorf("got %q, %v", got, err)
	}
	_, err := globFiles(t.Context(), ws, globInput{Pattern: "app/[slug"})
	holds(t, err, `\[ and \{ stand for the brackets themselves`)
}
