package console

import (
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
)

func mustPrefix(t *testing.T, text string) netip.Prefix {
	t.Helper()
	p, err := netip.ParsePrefix(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What hides a part of a call is seen.
func TestNotes(t *testing.T) {
	for text, want := range map[string]string{
		"https://bank.example/x":                        "",
		"see https://b\u00fccher.example.":              "the host is xn--bcher-kva.example",
		"https://p\u0430ypal.com/login":                 "the host is xn--pypal-4ve.com|mixes alphabets",
		"https://bank.example@evil.example/":            "the host is evil.example; what is before the @ is no host",
		"p\u0430ypal.com":                               `“p` + "\u0430" + `ypal.com” mixes alphabets: it has '\u0430'`,
		"\u043f\u0440\u0438\u0432\u0435\u0442":          "",
		"https://bank.example;x@evil.example/":          "the host is evil.example",
		"https://bank.example,(x)'@evil.example/":       "the host is evil.example",
		"https://bank.example,https://x@evil.example/":  "the host is evil.example",
		"(https://bank.example), https://bank.example;": "",
		"https://[::1]:8080/":                           "",
		"http://2852039166/latest":                      "the host is 169.254.169.254",
		"http://0xA9FEA9FE:80/":                         "the host is 169.254.169.254:80",
		"http://0251.0376.0251.0376/":                   "the host is 169.254.169.254",
		"http://127.1/":                                 "the host is 127.0.0.1",
		"http://\uff11\uff12\uff17.0.0.1/":              "the host is 127.0.0.1",
		"http://[::ffff:a9fe:a9fe]/":                    "the host is 169.254.169.254",
		"http://%65vil.example/":                        "the host is evil.example",
		"http://127.0.0.1:80/ http://1.2.3.4.5/ http://08/ http://256.1.1.1/ http://4294967296/ http://a.1/ http://0xg/": "",
		"http://0x/":        "the host is 0.0.0.0",
		"http://10.0.0.1./": "",
		`https://bank.example:443\@evil.example/`:                            "the host is not clear",
		"https://p\u0430ypal.com@evil.example":                               "the host is evil.example; what is before the @ is no host|mixes alphabets",
		"a://b c://d e://\u00fc f://\u00fc g://\u00fc h://\u00fc i://\u00fc": "xn--tda|there is more of this kind",
	} {
		got := strings.Join(notesOf(text), "|")
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(got, part) || want == "" && got != "" {
				t.Errorf("%q has the notes %q, want %q", text, got, want)
			}
		}
		if len(notesOf(text)) > maxNotes+1 {
			t.Errorf("%q has %d notes", text, len(notesOf(text)))
		}
	}
}

func TestFields(t *testing.T) {
	fields, whole := fieldsOf([]byte(`{"z":{"b":[1]},"text":"a\nb\u202e` + strings.Repeat(" ", 4000) + `c` + strings.Repeat(` \n`, 3000) + `d","command":"rm -rf /","empty":""}`))
	if !whole || len(fields) != 4 || fields[0].Name != "command" || fields[1].Name != "z" {
		t.Fatalf("got %+v", fields)
	}
	if got := fields[2].Lines; len(got) != 4 || got[1] != `b\u202e [4000 blanks] c` || got[2] != "[2999 blank lines]" || got[3] != "d" {
		t.Errorf("got %q", got)
	}
	if got := fields[3].Lines; len(got) != 1 || got[0] != "(empty)" {
		t.Errorf("got %q", got)
	}
	if fields, whole = fieldsOf([]byte(`[1`)); !whole || len(fields) != 1 || fields[0].Lines[0] != "[1" {
		t.Errorf("got %+v", fields)
	}
}

// Where a call has more lines than a person sees without scrolling, Approve comes after all of
// them: lines that fill the page push nothing out of sight.
func TestApproveComesAfterALongCall(t *testing.T) {
	lines := func(n int) string { return strings.TrimSuffix(strings.Repeat(`filler\n`, n), `\n`) }
	for name, put := range map[string]func(d *decisionv1.Decision, n int){
		"an argument": func(d *decisionv1.Decision, n int) { d.Arguments = `{"command":"` + lines(n) + `"}` },
		"a long line": func(d *decisionv1.Decision, n int) { d.Arguments = `{"command":"` + strings.Repeat("a", 40*n) + `"}` },
		"arguments": func(d *decisionv1.Decision, n int) {
			d.Arguments = `{` + strings.TrimSuffix(strings.Repeat(`"a":1,`, n), ",") + `}`
		},
		"the reason":  func(d *decisionv1.Decision, n int) { d.Reason = strings.ReplaceAll(lines(n), `\n`, "\n") },
		"the context": func(d *decisionv1.Decision, n int) { d.Context = `{"x":"` + lines(n) + `"}` },
		"a diff":      func(d *decisionv1.Decision, n int) { d.Diff = strings.Repeat("+a\n", n) },
	} {
		for n, long := range map[int]bool{3: false, 30: true} {
			d := approval()
			put(d, n)
			s := newSite(t, d)
			s.logIn(7)
			page := body(t, s.send(http.MethodGet, linkTo("/decisions/", d.Name), nil))
			if got := strings.Contains(page, `class="bar after"`); got != long || !strings.Contains(page, `value="approve"`) {
				t.Errorf("%s with %d lines: the buttons come after it: %v", name, n, got)
			}
		}
	}
}

// hostile are texts that break out of their places in careless pages.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg/onload=alert(1)>`, `</pre><iframe src=//evil.example>`, `</title><script>1</script>`, `</textarea><a href=//evil.example>x</a>`,
	`" autofocus onfocus=alert(1) x="`, `javascript:alert(1)`, `data:text/html,<script>1</script>`, "`onload=alert(1)", `{{.User}}`, `<!--`, `--><b>`, `]]><x>`, `<form action=//evil.example>`,
	`<meta http-equiv=refresh content="0;url=//evil.example">`, `<base href=//evil.example>`, `<link rel=stylesheet href=//evil.example>`, "\u202eevil", "a\u0000b", "\xff\xfe<b>", `&lt;b&gt;`, `&#60;b&#62;`,
	`<style>*{background:url(//evil.example)}</style>`, "a\r\nSet-Cookie: x=y", `%3Cscript%3E`, `../../logout`, `//evil.example`, `\\evil.example`, `" formaction="//evil.example`, `' formaction='/logout`,
	`<math><mi//xlink:href="data:x,<script>1</script>">`, `<details open ontoggle=alert(1)>`, `<input name=etag value=other>`, `"/><input name="verdict" value="approve">`,
}

// shape returns the elements of a page with the names of their attributes, and the values of those
// that lead somewhere.
func shape(t *testing.T, page string) (all []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode && n.Type != html.CommentNode {
			continue
		}
		line := n.Data
		if n.Type == html.CommentNode {
			line = "a comment"
		}
		for _, a := range n.Attr {
			line += " " + a.Key
			leads := slices.Contains([]string{"href", "src", "action", "formaction"}, a.Key)
			if leads && !strings.HasPrefix(a.Val, "/") || leads && strings.HasPrefix(a.Val, "//") {
				t.Errorf("<%s %s=%q> leads out of the pages", n.Data, a.Key, a.Val)
			}
			if n.Data == "input" && a.Key == "name" {
				line += "=" + a.Val
			}
		}
		all = append(all, line)
	}
	return all
}

// A text of others changes no page but the text in it, whatever it is and wherever it stands.
func TestHostileTexts(t *testing.T) {
	places := map[string]func(d *decisionv1.Decision, text string){
		"name":      func(d *decisionv1.Decision, text string) { d.Name = "run-1/" + text },
		"run":       func(d *decisionv1.Decision, text string) { d.RunId = text },
		"tenant":    func(d *decisionv1.Decision, text string) { d.Tenant = text },
		"principal": func(d *decisionv1.Decision, text string) { d.Principal = text },
		"tool":      func(d *decisionv1.Decision, text string) { d.Tool = text },
		"display":   func(d *decisionv1.Decision, text string) { d.DisplayName = text },
		"plugin":    func(d *decisionv1.Decision, text string) { d.Plugin = text },
		"arguments": func(d *decisionv1.Decision, text string) { d.Arguments = text },
		"argument":  func(d *decisionv1.Decision, text string) { d.Arguments = `{"x":` + quoted(text) + `}` },
		"key":       func(d *decisionv1.Decision, text string) { d.Arguments = `{` + quoted(text) + `:1}` },
		"reason":    func(d *decisionv1.Decision, text string) { d.Reason = text },
		"rule":      func(d *decisionv1.Decision, text string) { d.Rule = text },
		"diff":      func(d *decisionv1.Decision, text string) { d.Diff = "+" + text },
		"context":   func(d *decisionv1.Decision, text string) { d.Context = `{"x":` + quoted(text) + `}` },
		"etag":      func(d *decisionv1.Decision, text string) { d.Etag = text },
		"group":     func(d *decisionv1.Decision, text string) { d.ApproverGroups = []string{text} },
		"refusal":   func(d *decisionv1.Decision, text string) { d.NotAllowed = text },
		"agent":     func(d *decisionv1.Decision, text string) { d.Agent = text },
		"session":   func(d *decisionv1.Decision, text string) { d.Session = text },
		"option": func(d *decisionv1.Decision, text string) {
			d.Kind, d.Options = decisionv1.DecisionKind_DECISION_KIND_QUESTION, []string{text}
		},
		"field": func(d *decisionv1.Decision, text string) {
			d.Kind, d.Schema = decisionv1.DecisionKind_DECISION_KIND_TOOL, `{"type":"object","properties":{`+quoted(text)+`:{"type":"string","description":`+quoted(text)+`}}}`
		},
		"answer": func(d *decisionv1.Decision, text string) {
			d.State, d.Verdict, d.Text, d.DecidedByName, d.DecidedBy = decisionv1.DecisionState_DECISION_STATE_MADE, decisionv1.Verdict_VERDICT_REJECT, text, text, text
		},
	}
	for place, put := range places {
		shapes := map[string][]string{}
		for i, text := range append([]string{"plain"}, hostile...) {
			d := approval()
			put(d, strings.ToValidUTF8(text, "\uFFFD"))
			s := newSite(t, d)
			s.logIn(7)
			valid := strings.ToValidUTF8(text, "\uFFFD")
			s.server.mine = []*decisionv1.Decision{d}
			s.server.given = []*toolhostv1.StandingApproval{{
				Id: valid, Tool: valid, Principal: valid, Scope: toolhostv1.ApprovalScope_APPROVAL_SCOPE_RUN, Run: valid, Arguments: []byte(`{` + quoted(text) + `:` + quoted(text) + `}`),
				Patterns: []*toolhostv1.ArgumentPattern{{Argument: valid, Form: &toolhostv1.ArgumentPattern_PathPrefix{PathPrefix: valid}}},
			}}
			pages := map[string]string{"inbox": body(t, s.send(http.MethodGet, "/", nil)), "mine": body(t, s.send(http.MethodGet, "/mine", nil)), "decision": body(t, s.send(http.MethodGet, linkTo("/decisions/", d.Name), nil))}
			for name, page := range pages {
				got := shape(t, page)
				got = slices.DeleteFunc(got, func(line string) bool { return line == "span class" }) // lines, and notes about them
				if i == 0 {
					shapes[name] = got
				} else if !slices.Equal(got, shapes[name]) && place != "name" {
					t.Errorf("%s: %q changes the page %s:\n%s", place, text, name, page)
				}
				for _, r := range "\u202e\x00" {
					if strings.ContainsRune(page, r) && place != "etag" { // the server makes it
						t.Errorf("%s: the page %s has the character %U", place, name, r)
					}
				}
			}
		}
	}
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\x00", `\u0000`).Replace(text) + `"`
}

// html/template escapes values without quotes, too. They are a mistake all the same: another
// template language would not.
func TestAttributesAreQuoted(t *testing.T) {
	names, err := files.ReadDir("templates")
	if err != nil || len(names) == 0 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		page, err := files.ReadFile("templates/" + name.Name())
		if err != nil || regexp.MustCompile(`\s[a-z-]+=\{\{`).Match(page) {
			t.Errorf("%s has an attribute without quotes, or cannot be read: %v", name.Name(), err)
		}
	}
}
