package standing

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

func TestPaths(t *testing.T) {
	for _, test := range []struct {
		prefix, value    string
		declared, either bool // whether a declared path matches, and whether an undeclared one does too
	}{
		{"docs", "docs", true, true},
		{"docs", "docs/a.md", true, true},
		{"docs/", "docs/a/b.md", true, true},
		{"./docs//", "docs/a/b", true, true},
		{"docs", "./docs/a", false, false}, // a rule that compares texts does not know these spellings
		{"docs", "docs//a", false, false},
		{"docs", "docs/./a", false, false},
		{"docs", "docs/a/", false, false},
		{"docs", "docs/a,/etc/passwd", true, false}, // a list
		{"docs", "docs/a b.md", true, false},        // a shell would see two words
		{"docs", "docs/$HOME", true, false},
		{"docs", "docs/x;rm", true, false},
		{".", "anything/below", true, false}, // undeclared, any word would be below it
		{".", "-rf", true, false},
		{"docs", "docs/..a", true, true},
		{"docs", "docsx", false, false},
		{"docs", "docsx/a", false, false},
		{"docs", "doc", false, false},
		{"docs", "Docs/a", false, false},
		{"docs", "docs/../secret", false, false},
		{"docs", "docs/a/../b", false, false},
		{"docs", "docs/..", false, false},
		{"docs", "docs/.. ", false, false},
		{"docs", "docs/.. /secret", false, false},
		{"docs", "docs/.../secret", false, false},
		{"docs", "docs/. ./secret", false, false},
		{"docs", "docs\\..\\secret", false, false},
		{"docs", "/docs/a", false, false},
		{"docs", "docs/a\x00b", false, false},
		{"docs", "docs/a\nb", false, false},
		{"docs", "docs/\u200b..", false, false},
		{"docs", "docs/\u202e", false, false},
		{"docs", "docs/\xff", false, false},
		{"docs", " docs/a", false, false},
		{"docs", "docs/a ", false, false},
		{"docs", "", false, false},
		{".", "../a", false, false},
		{".", "..", false, false},
		{".", "~/a", false, false},
		{".", "~root/a", false, false},
		{".", "C:/a", false, false},
		{".", "c:", false, false},
		{".", "/", false, false},
		{"docs", "d\u006fcs/a", true, true},
		{"caf\u00e9", "cafe\u0301/a", false, false}, // another normalization of Unicode
	} {
		for declared, want := range map[bool]bool{true: test.declared, false: test.either} {
			kind := tool.ArgumentKind("")
			if declared {
				kind = tool.ArgumentPath
			}
			p, err := normalize(tool.ArgumentPattern{Argument: "path", PathPrefix: test.prefix}, kind)
			if err != nil && want {
				t.Fatalf("%q: %v", test.prefix, err)
			}
			if got := err == nil && permits(p, test.value, declared); got != want {
				t.Errorf("%q permits %q, declared %v: %v", test.prefix, test.value, declared, got)
			}
		}
	}
	p := tool.ArgumentPattern{Argument: "path", PathPrefix: "docs"}
	for _, value := range []any{nil, 1.0, true, []any{"docs"}, map[string]any{"docs": "docs"}} {
		if permits(p, value, true) {
			t.Errorf("%v is permitted", value)
		}
	}
}

func TestOrigins(t *testing.T) {
	for _, test := range []struct {
		origin, value string
		want          bool
	}{
		{"https://example.com", "https://example.com", true},
		{"https://example.com", "https://example.com/a?b#c", true},
		{"https://example.com", "HTTPS://example.com/a", false}, // a rule that compares texts does not know these spellings
		{"https://example.com", "https://EXAMPLE.com/a", false},
		{"https://example.com", "https://example.com:443/a", false},
		{"HTTPS://Example.com:443/", "https://example.com/a", true},
		{"http://example.com", "http://example.com:80", false},
		{"http://localhost:8080", "http://localhost:8080/a", true},
		{"http://[::1]:8080", "http://[::1]:8080/a", true},
		{"https://xn--bcher-kva.example", "https://xn--bcher-kva.example/ü", true},
		{"https://example.com", "http://example.com/a", false},
		{"https://example.com", "https://example.com:8443/a", false},
		{"https://example.com", "https://example.com:80/a", false},
		{"https://example.com", "https://example.com.:443/a", false},
		{"https://example.com", "https://example.com./a", false},
		{"https://example.com", "https://example.com.evil.example/a", false},
		{"https://example.com", "https://evil.example/https://example.com", false},
		{"https://example.com", "https://a.example.com/", false},
		{"https://example.com", "https://user@example.com/a", false},
		{"https://example.com", "https://example.com@evil.example/a", false},
		{"https://example.com", "https://example.com:443@evil.example/a", false},
		{"https://example.com", "https://example.com\\@evil.example/a", false},
		{"https://example.com", "https://example.com/\\@evil.example", false},
		{"https://example.com", "https:\\\\example.com", false},
		{"https://example.com", "https://example.com\t/", false},
		{"https://example.com", " https://example.com/", false},
		{"https://example.com", "https://exam\nple.com/", false},
		{"https://example.com", "https://exam%70le.com/", false},
		{"https://example.com", "https://example.com%2f@evil.example/", false},
		{"https://example.com", "https://ex\u0430mple.com/", false}, // a Cyrillic letter
		{"https://example.com", "https://example\u3002com/", false}, // which IDNA maps to a dot
		{"https://bücher.example", "https://bücher.example", false},
		{"https://example.com", "https://example.com:/", false},
		{"https://example.com", "https://example.com:0443/", false},
		{"https://example.com", "https://example.com:+443/", false},
		{"https://example.com", "https:example.com", false},
		{"https://example.com", "https:/example.com", false},
		{"https://example.com", "https:///example.com", false},
		{"https://example.com", "//example.com", false},
		{"https://example.com", "example.com", false},
		{"https://example.com", "", false},
		{"http://127.0.0.1", "http://0x7f.0.0.1/", false},
		{"http://127.0.0.1", "http://2130706433/", false},
		{"http://[::1]", "http://[::1%25eth0]/", false},
		{"http://[::1]", "http://[0::1]/", false},
	} {
		p, err := normalize(tool.ArgumentPattern{Argument: "url", Origin: test.origin}, tool.ArgumentURL)
		if err != nil {
			if test.want {
				t.Errorf("%q: %v", test.origin, err)
			}
			continue
		}
		if got := permits(p, test.value, true); got != test.want {
			t.Errorf("%q permits %q: %v", test.origin, test.value, got)
		}
	}
	for _, origin := range []string{"https://example.com/path", "https://example.com?q", "ftp://example.com", "example.com", "https://user@example.com", "https://", "https://*.example.com"} {
		if p, err := normalize(tool.ArgumentPattern{Argument: "url", Origin: origin}, tool.ArgumentURL); err == nil {
			t.Errorf("%q became %+v", origin, p)
		}
	}
}

// An argument that the tool does not declare as a URL may be put into a shell, a template or a
// list.
func TestOriginsOfUndeclaredArguments(t *testing.T) {
	p := tool.ArgumentPattern{Argument: "to", Origin: "https://example.com"}
	for rest, want := range map[string]bool{
		"": true, "/a/b.c?d=e#f": true, "/%20": true, "/~ada": true,
		"/;id": false, "/$(id)": false, "/`id`": false, "/a&id": false, "/a|id": false, "/a>b": false, "/{{x}}": false, "/'": false,
		"/,https://evil.example/": false, "/*": false,
	} {
		if !permits(p, p.Origin+rest, true) {
			t.Errorf("declared, %q is not permitted", rest)
		}
		if got := permits(p, p.Origin+rest, false); got != want {
			t.Errorf("undeclared, %q is permitted: %v", rest, got)
		}
	}
}

// A declaration that cannot be read does not make an argument one that is not declared.
func TestKindsOfArguments(t *testing.T) {
	for text, want := range map[string]tool.ArgumentKind{
		"": "", `{}`: "", `{"other":"path"}`: "", `{"line":"command","path":1}`: "command", `{"line":1,"path":"path"}`: unreadable, `{"line":null}`: unreadable,
		`{"line":""}`: unreadable, `["line"]`: unreadable, `{`: unreadable, `{"line":"newer"}`: "newer",
	} {
		spec := &tool.Spec{}
		if text != "" {
			spec.Metadata = map[string]json.RawMessage{tool.KeyArguments: json.RawMessage(text)}
		}
		if got := kindOf(spec, "line"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, p := range []tool.ArgumentPattern{{PathPrefix: "a"}, {Origin: "https://a.example"}, {Any: true}} {
		p.Argument = "line"
		if _, err := normalize(p, unreadable); err == nil {
			t.Errorf("%+v can be used", p)
		}
	}
}

// What an argument is decides which patterns it may have. A command has none.
func TestPatternsThatAnArgumentMayHave(t *testing.T) {
	path, origin, free := tool.ArgumentPattern{PathPrefix: "a"}, tool.ArgumentPattern{Origin: "https://a.example"}, tool.ArgumentPattern{Any: true}
	for _, test := range []struct {
		argument string
		kind     tool.ArgumentKind
		pattern  tool.ArgumentPattern
		want     bool
	}{
		{"path", tool.ArgumentPath, path, true},
		{"path", tool.ArgumentPath, free, false},
		{"path", tool.ArgumentPath, origin, false},
		{"path", "", path, true},
		{"path", "", free, false},
		{"url", tool.ArgumentURL, origin, true},
		{"url", tool.ArgumentURL, path, false},
		{"url", "", origin, true},
		{"content", tool.ArgumentContent, free, true},
		{"content", tool.ArgumentContent, path, false},
		{"content", "", free, false},
		{"line", tool.ArgumentCommand, path, false},
		{"line", tool.ArgumentCommand, free, false},
		{"line", tool.ArgumentCommand, origin, false},
		{"command", "", path, false},
		{"shellCommand", "", path, false},
		{"SQL", "", path, false},
		{"script", tool.ArgumentPath, path, true}, // a file of that name
		{"content", "something newer", free, false},
		{"content", "something newer", path, false},
		{"", tool.ArgumentPath, path, false},
		{"path", tool.ArgumentPath, tool.ArgumentPattern{}, false},
		{"path", tool.ArgumentContent, tool.ArgumentPattern{Any: true, PathPrefix: "a"}, false},
		{"path", tool.ArgumentPath, tool.ArgumentPattern{PathPrefix: strings.Repeat("a", maxPattern+1)}, false},
		{"path", "", tool.ArgumentPattern{PathPrefix: "./"}, false},
		{strings.Repeat("a", maxPattern+1), tool.ArgumentPath, path, false},
		{"path", tool.ArgumentPath, tool.ArgumentPattern{PathPrefix: "../a"}, false},
		{"path", tool.ArgumentPath, tool.ArgumentPattern{PathPrefix: "/etc"}, false},
	} {
		p := test.pattern
		p.Argument = test.argument
		if _, err := normalize(p, test.kind); (err == nil) != test.want {
			t.Errorf("%q of the kind %q: %+v: %v", test.argument, test.kind, p, err)
		}
	}
}

// A text that matches a prefix is below it for every reader that joins names, and never above.
func FuzzPaths(f *testing.F) {
	for _, text := range []string{"docs/a", "docs/../a", "docs/.. /a", "docs\\a", "./docs//a/.", "docs/\u2024\u2024/a"} {
		f.Add("docs", text)
	}
	f.Fuzz(func(t *testing.T, prefix, text string) {
		p, err := normalize(tool.ArgumentPattern{Argument: "path", PathPrefix: prefix}, tool.ArgumentPath)
		if err != nil {
			return
		}
		if !permits(p, text, true) {
			if permits(p, text, false) {
				t.Fatalf("%q permits %q only if it is not declared", prefix, text)
			}
			return
		}
		depth := 0
		var names []string
		for name := range strings.SplitSeq(text, "/") {
			switch strings.TrimRight(name, ". ") {
			case "":
				if strings.Contains(name, "..") {
					t.Fatalf("%q permits %q", prefix, text)
				}
			default:
				depth++
				names = append(names, name)
			}
		}
		if p.PathPrefix != "." && !strings.HasPrefix(strings.Join(names, "/")+"/", p.PathPrefix+"/") {
			t.Fatalf("%q permits %q", prefix, text)
		}
		if text[0] == '/' || strings.ContainsAny(text, "\\\x00\n") {
			t.Fatalf("%q permits %q", prefix, text)
		}
	})
}

// A URL that matches an origin begins with it, whatever reads the URL.
func FuzzOrigins(f *testing.F) {
	for _, text := range []string{"https://example.com/a", "https://example.com@evil.example", "HTTPS://example.com:443", "https://example.com\\a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !permits(tool.ArgumentPattern{Argument: "url", Origin: "https://example.com"}, text, true) {
			return
		}
		rest, ok := strings.CutPrefix(text, "https://example.com")
		if !ok || rest != "" && !strings.ContainsRune("/?#", rune(rest[0])) || strings.ContainsAny(text, "\\ \t\n") {
			t.Fatalf("%q is permitted", text)
		}
	})
}
